import { type Bytes, ByteStore, endOf } from './byte-store.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** What is kept of the end of a line that is too long. */
export const TAIL_BYTES = 512;
/** No message of anybody is longer; what sends so much in one line does not come to an end. */
const ENDLESS_BYTES = 1_024 ** 3;

export interface LineListener {
  onLine(line: Bytes): void;
  /**
   * A line has become longer than allowed and is not kept any more; this is its beginning. True: that is
   * all there is to know, its end is not told.
   */
  onLongLine(head: Bytes, bytes: number): boolean;
  /** The end of a line that was too long: its last bytes, and how many it had. */
  onLongLineEnd(head: Bytes, tail: Buffer, bytes: number): void;
  /** A line of more than a gibibyte without an end. */
  onEndlessLine(bytes: number): void;
}

interface LineOptions {
  /** Asked whenever something comes, so that it may change at any time. */
  maxBytes: () => number;
  /** Whether a carriage return alone ends a line too, as in event streams. */
  endsAtReturn: boolean;
}

interface LongLine {
  /** Undefined: nobody wants to know its end. */
  head: Bytes | undefined;
  tail: Buffer;
}

/** Cuts a stream of bytes into lines without their ends, and never holds more than one line may have. */
export class LineSplitter {
  private readonly store = new ByteStore();
  private bytes = 0;
  private long: LongLine | undefined;
  /** A line has just ended with a carriage return: a line feed now belongs to it. */
  private isAfterReturn = false;

  constructor(
    private readonly options: LineOptions,
    private readonly listener: LineListener,
  ) {}

  add(chunk: Buffer): void {
    const nextReturn = this.options.endsAtReturn ? indexer(chunk, CARRIAGE_RETURN) : never;
    let from = 0;
    while (from < chunk.length) {
      if (this.isAfterReturn && chunk[from] === LINE_FEED) from += 1;
      this.isAfterReturn = false;
      const feed = chunk.indexOf(LINE_FEED, from);
      const back = nextReturn(from);
      const to = back === -1 || (feed !== -1 && feed < back) ? feed : back;
      const part = chunk.subarray(from, to === -1 ? undefined : to);
      if (to === -1) return this.keep(part);
      this.endLine(part);
      this.isAfterReturn = to === back;
      from = to + 1;
    }
  }

  private keep(part: Buffer): void {
    const maxBytes = this.options.maxBytes();
    const room = Math.max(0, maxBytes - this.bytes);
    this.bytes += part.length;
    if (this.long === undefined && this.bytes <= maxBytes) return this.store.add(part);
    if (this.long === undefined) {
      this.store.add(part.subarray(0, room));
      const head = this.store.take();
      const isSettled = this.listener.onLongLine(head, this.bytes);
      this.long = { head: isSettled ? undefined : head, tail: Buffer.alloc(0) };
    }
    this.long.tail = endOf([this.long.tail, part], TAIL_BYTES);
    if (this.bytes > ENDLESS_BYTES) this.listener.onEndlessLine(this.bytes);
  }

  private endLine(part: Buffer): void {
    const isShort = this.bytes === 0 && part.length <= this.options.maxBytes();
    if (!isShort) this.keep(part);
    const { long, bytes } = this;
    const line = isShort ? [part] : this.store.take();
    this.bytes = 0;
    this.long = undefined;
    if (long === undefined) this.listener.onLine(withoutReturn(line));
    else if (long.head !== undefined) this.listener.onLongLineEnd(long.head, long.tail, bytes);
  }
}

/** Where the byte comes next; a chunk is looked through once, however often that is asked. */
function indexer(chunk: Buffer, byte: number): (from: number) => number {
  let found = chunk.indexOf(byte);
  return (from) => {
    if (found !== -1 && found < from) found = chunk.indexOf(byte, from);
    return found;
  };
}

function never(): number {
  return -1;
}

function withoutReturn(line: Buffer[]): Bytes {
  const last = line.at(-1);
  if (last?.at(-1) !== CARRIAGE_RETURN) return line;
  return [...line.slice(0, -1), last.subarray(0, -1)];
}
