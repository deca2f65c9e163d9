const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const WHITE_SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Follows JSON byte by byte, and knows all the way how it could be brought to an end. */
export class JsonScan {
  /** Bytes that were seen. */
  bytes = 0;
  /** Everything before it can be closed as it is; undefined: nothing can. */
  goodEnd: number | undefined;
  /** Whether a text that is a value has begun and not ended. */
  isInValue = false;
  /** Where the last two escapes of that text begin, the last one first. */
  escapes: [number, number] = [-1, -1];
  /** Whether it can't be JSON. */
  isBroken = false;
  private readonly open: number[] = [];
  private isInText = false;
  private isEscaped = false;
  private isKeyNext = false;
  /** A number or a word has begun. */
  private isInWord = false;

  /** What closes everything that is open. */
  get closing(): string {
    const closers = this.open.map((byte) => (byte === OPEN_OBJECT ? '}' : ']'));
    return closers.reverse().join('');
  }

  add(block: Buffer): void {
    for (let at = 0; at < block.length;)
      if (this.isInText) at = this.passText(block, at);
      else this.passOne(block[at] as number, this.bytes + at++);
    this.bytes += block.length;
  }

  /** Most of a long result is text: as few steps as can be. */
  private passText(block: Buffer, from: number): number {
    let at = this.isEscaped ? from + 1 : from;
    this.isEscaped = false;
    for (; at < block.length; at++) {
      const byte = block[at];
      if (byte === QUOTE) {
        this.endText(this.bytes + at);
        return at + 1;
      }
      if (byte !== BACKSLASH) continue;
      this.escapes = [this.bytes + at, this.escapes[0]];
      at += 1;
      this.isEscaped = at === block.length;
    }
    return block.length;
  }

  private endText(at: number): void {
    this.isInText = false;
    if (this.isInValue) this.goodEnd = at + 1;
    this.isInValue = false;
  }

  private passOne(byte: number, at: number): void {
    if (byte === QUOTE) this.beginText();
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.enter(byte, at);
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.leave(byte, at);
    else if (byte === COMMA || WHITE_SPACE.has(byte)) this.endWord(byte, at);
    else if (byte === COLON) this.isKeyNext = false;
    else this.isInWord = true;
  }

  private beginText(): void {
    this.isInText = true;
    this.isInValue = !this.isKeyNext;
    this.escapes = [-1, -1];
  }

  private enter(byte: number, at: number): void {
    this.open.push(byte);
    this.isKeyNext = byte === OPEN_OBJECT;
    this.goodEnd = at + 1;
  }

  private leave(byte: number, at: number): void {
    const opened = this.open.pop();
    this.isBroken ||= opened !== (byte === CLOSE_OBJECT ? OPEN_OBJECT : OPEN_LIST);
    this.isKeyNext = this.isInWord = false;
    this.goodEnd = at + 1;
  }

  private endWord(byte: number, at: number): void {
    if (this.isInWord) this.goodEnd = at;
    this.isInWord = false;
    if (byte === COMMA) this.isKeyNext = this.open.at(-1) === OPEN_OBJECT;
  }
}
