import { Duplex, type Transform } from 'node:stream';
import type { ReadableWritablePair } from 'node:stream/web';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

type Bytes = ReadableStream<Uint8Array>;

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
/** Each holds memory. */
const MAX_CODINGS = 5;

/**
 * The body as it was before it was compressed. One that is compressed in a way that nobody asked for stays
 * as it is, as with `fetch`. It errors when it ends too early, and when it is not what it is said to be.
 * @throws TypeError when it was compressed too often
 */
export function decoded(body: Bytes, contentEncoding: string | null): Bytes {
  const codings = contentEncoding?.toLowerCase().split(',') ?? [];
  if (codings.length > MAX_CODINGS)
    throw new TypeError(`${codings.length} content codings are too many`);
  const decoders = codings.map((coding) => DECODERS[coding.trim()]).reverse();
  if (!decoders.every((create) => create !== undefined)) return body;
  return decoders.reduce((bytes, create) => bytes.pipeThrough(toWeb(create())), body);
}

function toWeb(transform: Transform): ReadableWritablePair<Uint8Array, Uint8Array> {
  return Duplex.toWeb(transform);
}
