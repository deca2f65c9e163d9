import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { UNREADABLE_ANSWER } from '../sdk-failure.js';

/** How a message begins, or ends, from which an `id` can be told without reading what is between. */
const ID_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,/;
const ID_LAST = /,\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;
const NOT_AN_ANSWER = /^\s*[^\s{]|"method"\s*:/;
const LOOKED_AT_CHARS = 512;

/**
 * Reads one JSON-RPC message. What was meant as an answer but can't be read becomes an error for its
 * request, which would wait in vain otherwise. Undefined: it is no message at all.
 */
export function readMessage(text: string): JSONRPCMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return unreadable(
      idIn(text.slice(0, LOOKED_AT_CHARS), text.slice(-LOOKED_AT_CHARS)),
      (error as Error).message,
    );
  }
  const { success, error } = JSONRPCMessageSchema.safeParse(value);
  if (success) return value as JSONRPCMessage;
  return unreadable(idOf(value), error.issues[0]?.message ?? error.message);
}

/** The error in place of an answer of which only the beginning and the end are known. */
export function oversizedAnswer(
  head: string,
  tail: string,
  maxBytes: number,
): JSONRPCErrorResponse | undefined {
  return unreadable(idIn(head, tail), `it is longer than ${maxBytes} bytes`);
}

function unreadable(id: number | undefined, why: string): JSONRPCErrorResponse | undefined {
  if (id === undefined) return undefined;
  const message = `The upstream's answer is not MCP: ${why}`;
  return { jsonrpc: '2.0', id, error: { code: UNREADABLE_ANSWER, message } };
}

function idIn(head: string, tail: string): number | undefined {
  if (NOT_AN_ANSWER.test(head)) return undefined;
  const id = (ID_FIRST.exec(head) ?? ID_LAST.exec(tail))?.[1];
  return id === undefined ? undefined : Number(id);
}

function idOf(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null || 'method' in value) return undefined;
  const { id } = value as { id?: unknown };
  return typeof id === 'number' ? id : undefined;
}
