import { type FieldError, InvalidRequestError } from '../domain-error.js';
import { isDeeperThan } from '../json-depth.js';
import { toJsonPointer } from '../json-pointer.js';

/** How deep a member of the body, for example `arguments`, may be nested; the member itself is level 1. */
const MAX_JSON_DEPTH = 64;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a JSON body with the native parser, so that keys such as `__proto__` and `constructor` stay
 * ordinary own keys. Undefined for an empty body.
 * @throws InvalidRequestError when it is not UTF-8, not JSON, or nested too deeply.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  const body = parse(bytes);
  const tooDeep = membersDeeperThan(MAX_JSON_DEPTH, body);
  if (tooDeep.length > 0) throw new InvalidRequestError(tooDeep);
  return body;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw new InvalidRequestError([{ pointer: '', detail: 'must be JSON in UTF-8' }]);
  }
}

function membersDeeperThan(limit: number, body: unknown): FieldError[] {
  return Object.entries(body ?? {})
    .filter(([, member]) => isDeeperThan(limit, member))
    .map(([key]) => ({
      pointer: toJsonPointer([key.slice(0, 128)]),
      detail: `must not be nested deeper than ${limit} levels`,
    }));
}
