const MIN_BLOCK_BYTES = 1_024;
const BLOCK_BYTES = 64 * 1_024;

/** Bytes in order, in blocks of any size. */
export type Bytes = readonly Buffer[];

/**
 * Holds bytes that arrive in parts, however small these are: each is copied behind the one before it, so
 * that a megabyte takes a megabyte also when it came byte by byte.
 */
export class ByteStore {
  private blocks: Buffer[] = [];
  private free = 0;
  private stored = 0;

  get length(): number {
    return this.stored;
  }

  add(part: Uint8Array): void {
    for (let from = 0; from < part.length;) {
      if (this.free === 0) this.grow(part.length - from);
      const block = this.blocks.at(-1) as Buffer;
      const bytes = part.subarray(from, from + this.free);
      block.set(bytes, block.length - this.free);
      this.free -= bytes.length;
      from += bytes.length;
    }
    this.stored += part.length;
  }

  /** Everything, and leaves nothing. */
  take(): Buffer[] {
    const { blocks } = this;
    const last = blocks.pop();
    if (last !== undefined) blocks.push(last.subarray(0, last.length - this.free));
    this.blocks = [];
    this.free = this.stored = 0;
    return blocks;
  }

  /** Few bytes take little, many take few blocks. */
  private grow(needed: number): void {
    const usual = Math.min(Math.max(this.stored, MIN_BLOCK_BYTES), BLOCK_BYTES);
    this.free = Math.max(usual, needed);
    this.blocks.push(Buffer.allocUnsafeSlow(this.free));
  }
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
