import type { SecretsKey } from '../config/secrets-keys.js';

/** The keys of this process: the first seals, every one opens. */
export class KeyRing {
  readonly first: SecretsKey;

  /** @throws Error when there is no key. */
  constructor(private readonly keys: readonly SecretsKey[]) {
    const [first] = keys;
    if (first === undefined) throw new Error('a key ring needs a key');
    this.first = first;
  }

  find(id: string): SecretsKey | undefined {
    return this.keys.find((key) => key.id === id);
  }
}
