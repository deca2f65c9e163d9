import type { PlainKeys } from './key-file.js';

/** The keys that this start has generated: whoever prints the banner shows them, once. */
export class GeneratedKeys {
  keys: PlainKeys = {};
  /** Where they are saved; undefined when none were generated. */
  savedIn: string | undefined;
}
