import { InvalidRequestError } from './domain-error.js';

/** @throws InvalidRequestError naming the field when the value is larger than `maxBytes` as JSON. */
export function assertJsonSize(value: unknown, pointer: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= maxBytes) return;
  const detail = `must be at most ${maxBytes} bytes of JSON, not ${bytes}`;
  throw new InvalidRequestError([{ pointer, detail }]);
}
