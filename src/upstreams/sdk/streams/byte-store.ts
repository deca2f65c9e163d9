const MIN_BLOCK_BYTES = 1_024;
const BLOCK_BYTES = 16 * 1_024;

/** Bytes in order, in blocks of any size. */
export type Bytes = readonly Buffer[];

/**
 * Holds bytes that arrive in parts, however small these are: a megabyte takes no more than two also when it
 * came byte by byte. Large parts are held as they are, so whoever adds them leaves them alone.
 */
export class ByteStore {
  private blocks: Buffer[] = [];
  /** Bytes of the last block that are not used yet. */
  private free = 0;
  private stored = 0;

  get length(): number {
    return this.stored;
  }

  add(part: Buffer): void {
    this.stored += part.length;
    if (part.length >= BLOCK_BYTES) {
      this.endBlock();
      this.blocks.push(part);
      return;
    }
    const fitting = part.subarray(0, this.free);
    this.put(fitting);
    if (fitting.length === part.length) return;
    this.grow();
    this.put(part.subarray(fitting.length));
  }

  /** Everything, and leaves nothing. */
  take(): Buffer[] {
    this.endBlock();
    const { blocks } = this;
    this.blocks = [];
    this.stored = 0;
    return blocks;
  }

  private put(part: Buffer): void {
    const last = this.blocks.at(-1);
    last?.set(part, last.length - this.free);
    this.free -= part.length;
  }

  private endBlock(): void {
    const last = this.blocks.pop();
    if (last !== undefined) this.blocks.push(last.subarray(0, last.length - this.free));
    this.free = 0;
  }

  /** Few bytes take little, many take few blocks; a small part fits into either. */
  private grow(): void {
    this.free = this.stored <= MIN_BLOCK_BYTES ? MIN_BLOCK_BYTES : BLOCK_BYTES;
    this.blocks.push(Buffer.allocUnsafeSlow(this.free));
  }
}

/** In order; what was passed on is not held here any more. */
export function* oneByOne(blocks: Buffer[]): Generator<Buffer, void, undefined> {
  blocks.reverse();
  for (let block = blocks.pop(); block !== undefined; block = blocks.pop()) yield block;
}

/** The same bytes, not a copy of them. */
export function bufferOf(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

export function textOf(bytes: Bytes): string {
  const [only, ...more] = bytes;
  if (only === undefined) return '';
  return (more.length === 0 ? only : Buffer.concat(bytes)).toString();
}

/** The first `count` bytes or fewer, as text. */
export function startOf(bytes: Bytes, count: number): string {
  let text = '';
  for (const block of bytes) {
    if (text.length >= count) break;
    text += block.toString('latin1', 0, count - text.length);
  }
  return text;
}

/** The last `count` bytes or fewer, as a copy: a part would keep all of them in memory. */
export function endOf(bytes: Bytes, count: number): Buffer {
  const ends = bytes.map((block) => block.subarray(-count));
  return Buffer.from(Buffer.concat(ends).subarray(-count));
}

/** What follows the first `count` bytes. */
export function after(bytes: Bytes, count: number): Bytes {
  const [first, ...more] = bytes;
  if (first === undefined || count === 0) return bytes;
  return first.length > count
    ? [first.subarray(count), ...more]
    : after(more, count - first.length);
}

/** The first `count` bytes or fewer. */
export function beginning(bytes: Bytes, count: number): Bytes {
  const blocks: Buffer[] = [];
  let left = count;
  for (const block of bytes) {
    if (left <= 0) break;
    blocks.push(block.subarray(0, left));
    left -= block.length;
  }
  return blocks;
}
