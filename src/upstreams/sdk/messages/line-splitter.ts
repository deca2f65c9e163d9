const LINE_FEED = 0x0a;
/** What is kept of a line that is too long, at its beginning and at its end each. */
const KEPT_BYTES = 512;

export type Line =
  | { isWhole: true; text: string }
  /** It was longer than allowed: only its two ends are known. */
  | { isWhole: false; head: string; tail: string };

/** Cuts a stream of bytes into lines without their ends, and never holds more than one line may have. */
export class LineSplitter {
  private parts: Buffer[] = [];
  private bytes = 0;
  /** The beginning of a line that has become too long. */
  private head: string | undefined;

  constructor(
    private readonly maxBytes: number,
    private readonly onLine: (line: Line) => void,
  ) {}

  add(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const to = chunk.indexOf(LINE_FEED, from);
      this.keep(chunk.subarray(from, to === -1 ? undefined : to));
      if (to === -1) return;
      this.endLine();
      from = to + 1;
    }
  }

  private keep(part: Buffer): void {
    if (part.length === 0) return;
    this.parts.push(part);
    this.bytes += part.length;
    if (this.head === undefined && this.bytes <= this.maxBytes) return;
    this.head ??= Buffer.concat(this.parts, Math.min(this.bytes, KEPT_BYTES)).toString();
    const end = Buffer.concat(this.parts.slice(-KEPT_BYTES)).subarray(-KEPT_BYTES);
    // A copy: a part of the chunk would keep all of it in memory.
    this.parts = [Buffer.from(end)];
  }

  private endLine(): void {
    const text = Buffer.concat(this.parts).toString().replace(/\r$/, '');
    const { head } = this;
    this.parts = [];
    this.bytes = 0;
    this.head = undefined;
    this.onLine(
      head === undefined ? { isWhole: true, text } : { isWhole: false, head, tail: text },
    );
  }
}
