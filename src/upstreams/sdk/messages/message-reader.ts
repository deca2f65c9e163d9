import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { notMcpText, UNREADABLE_ANSWER } from '../sdk-failure.js';

/** How servers write answers: from these, the `id` is told without reading what is between. */
const JSONRPC = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
const ID = String.raw`"id"\s*:\s*(\d+)`;
const ANSWER = String.raw`"(?:result|error)"\s*:`;
const ID_FIRST = [`${JSONRPC}\\s*,\\s*${ID}`, `${ID}\\s*,\\s*${JSONRPC}`].map(
  (both) => new RegExp(`^\\s*\\{\\s*${both}\\s*,\\s*${ANSWER}`),
);
const ANSWER_FIRST = new RegExp(`^\\s*\\{\\s*(?:${JSONRPC}\\s*,\\s*)?${ANSWER}`);
const ID_LAST = new RegExp(`,\\s*${ID}\\s*(?:,\\s*${JSONRPC}\\s*)?\\}\\s*$`);
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
  const message = notMcpText(why);
  return { jsonrpc: '2.0', id, error: { code: UNREADABLE_ANSWER, message } };
}

function idIn(head: string, tail: string): number | undefined {
  const found = ANSWER_FIRST.test(head)
    ? ID_LAST.exec(tail)
    : ID_FIRST.map((pattern) => pattern.exec(head)).find((match) => match !== null);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

/** Programs write lines of a log as JSON, too, and with an `id`: an answer says what it is. */
function idOf(value: unknown): number | undefined {
  const { jsonrpc, id, ...rest } = (value ?? {}) as Record<string, unknown>;
  const isAnswer = jsonrpc === '2.0' && ('result' in rest || 'error' in rest);
  return isAnswer && typeof id === 'number' ? id : undefined;
}
