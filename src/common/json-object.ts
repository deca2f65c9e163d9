import { isContainer } from './json-depth.js';

/** Whether the JSON value has named fields: it is not a list either. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return isContainer(value) && !Array.isArray(value);
}
