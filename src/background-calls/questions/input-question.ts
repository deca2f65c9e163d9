import { isDeeperThan } from '../../common/json-depth.js';
import { cutText, toStorableText } from '../../common/storable-text.js';
import type { WorkQuestion } from '../call-work.js';

const MAX_MESSAGE_CHARS = 16_000;
const MAX_SCHEMA_BYTES = 16_384;
const MAX_SCHEMA_DEPTH = 16;

/** A question as it is stored. */
export interface StorableQuestion {
  message: string;
  /** JSON text. */
  schema: string;
}

/** Bounds what an upstream asks: a schema that is too large or too deep becomes that of any object. */
export function toStorableQuestion({ message, schema }: WorkQuestion): StorableQuestion {
  return { message: cutText(toStorableText(message), MAX_MESSAGE_CHARS), schema: bounded(schema) };
}

function bounded(schema: Record<string, unknown>): string {
  const text = isDeeperThan(MAX_SCHEMA_DEPTH, schema) ? undefined : JSON.stringify(schema);
  return text !== undefined && Buffer.byteLength(text) <= MAX_SCHEMA_BYTES ? text : ANY_OBJECT;
}

const ANY_OBJECT = JSON.stringify({ type: 'object' });
