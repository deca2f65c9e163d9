/** Who does the work of a call: an MCP task that another process can go on with, or a request of this one. */
export const DRIVERS = ['plain', 'task'] as const;
export type Driver = (typeof DRIVERS)[number];

/** As in the database; a reference that is larger is not kept. */
const MAX_BYTES = 16_384;

/** A reference as its row holds it. */
export interface StoredReference {
  /** JSON. */
  text: string;
  driver: Driver;
}

/** Undefined: it is too large to be kept, so that nobody else can go on with the work. */
export function toStoredReference(reference: object): StoredReference | undefined {
  const text = JSON.stringify(reference);
  if (Buffer.byteLength(text) > MAX_BYTES) return undefined;
  const isTask = 'kind' in reference && reference.kind === 'task';
  return { text, driver: isTask ? 'task' : 'plain' };
}
