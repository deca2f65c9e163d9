import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { notMcpText, OVERSIZED_ANSWER, UNREADABLE_ANSWER } from '../sdk-failure.js';
import { schemaReason } from '../schema-reason.js';
import { type Bytes, startOf } from '../streams/byte-store.js';
import { OversizedAnswer } from '../streams/oversized-answer.js';

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
 * What may be messages in a text, each for `readMessage`: one, or those of a batch (protocol 2025-03-26). What was
 * meant as an answer but is no JSON becomes an error for its request, which would wait in vain otherwise. Empty:
 * there is no message in it.
 */
export function parseMessages(text: string): unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const head = text.slice(0, LOOKED_AT_CHARS);
    const id = idAtStart(head) ?? idAtEnd(head, text.slice(-LOOKED_AT_CHARS));
    return id === undefined ? [] : [unreadable(id, (error as Error).message)];
  }
  return (Array.isArray(value) ? value : [value]).filter(isJsonRpc);
}

/** The message; of an answer that is not MCP an error for its request. Undefined: it is none. */
export function readMessage(value: unknown): JSONRPCMessage | undefined {
  const { success, error } = JSONRPCMessageSchema.safeParse(value);
  if (success) return value as JSONRPCMessage;
  const id = idOf(value);
  if (id === undefined) return undefined;
  return unreadable(id, schemaReason(error.issues));
}

/** The error in place of an answer that is too long and says at once which request it is for. */
export function answerBegun(head: Bytes, bytes: number): JSONRPCErrorResponse | undefined {
  return oversized(idAtStart(startOf(head, LOOKED_AT_CHARS)), head, bytes);
}

/** The error in place of an answer that is too long and says which request it is for when it is over. */
export function answerEnded(
  head: Bytes,
  tail: Buffer,
  bytes: number,
): JSONRPCErrorResponse | undefined {
  const id = idAtEnd(startOf(head, LOOKED_AT_CHARS), tail.toString('latin1'));
  return oversized(id, head, bytes);
}

/** Whether it may still say at its end which request it is for. */
export function isAnswer(head: Bytes): boolean {
  return ANSWER_FIRST.test(startOf(head, LOOKED_AT_CHARS));
}

/** Programs write lines of a log as JSON, too. */
function isJsonRpc(value: unknown): boolean {
  return (value as { jsonrpc?: unknown } | null)?.jsonrpc === '2.0';
}

function unreadable(id: number, why: string): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', id, error: { code: UNREADABLE_ANSWER, message: notMcpText(why) } };
}

function oversized(
  id: number | undefined,
  head: Bytes,
  bytes: number,
): JSONRPCErrorResponse | undefined {
  if (id === undefined) return undefined;
  const data = new OversizedAnswer(head, bytes);
  return { jsonrpc: '2.0', id, error: { code: OVERSIZED_ANSWER, message: data.message, data } };
}

function idAtStart(head: string): number | undefined {
  return idOfMatch(ID_FIRST.map((pattern) => pattern.exec(head)).find((match) => match !== null));
}

function idAtEnd(head: string, tail: string): number | undefined {
  return ANSWER_FIRST.test(head) ? idOfMatch(ID_LAST.exec(tail)) : undefined;
}

function idOfMatch(match: RegExpExecArray | null | undefined): number | undefined {
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

/** Of what says that it is an answer. */
function idOf(value: unknown): number | undefined {
  const { id, ...rest } = value as Record<string, unknown>;
  const isAnswer = 'result' in rest || 'error' in rest;
  return isAnswer && typeof id === 'number' ? id : undefined;
}
