import { after, type Bytes, ByteStore, endOf, startOf, textOf } from './byte-store.js';
import { type LineListener, TAIL_BYTES } from './line-splitter.js';

const LINE_FEED = Buffer.from('\n');
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
/** More than the longest name of a field, with a byte order mark. */
const NAME_BYTES = 16;

export interface ServerEvent {
  /** `message` where the stream gives none. */
  name: string;
  id: string | undefined;
  /** What the stream says about itself; such an event may have no data. */
  retry: string | undefined;
  data: Bytes | undefined;
}

type Fields = Omit<ServerEvent, 'data'>;

/** Of what is too long it is told the data. */
export interface EventListener extends Omit<LineListener, 'onLine'> {
  onEvent(event: ServerEvent): void;
}

/**
 * Puts the lines of an event stream together to events; comments are passed over.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export class EventReader implements LineListener {
  private isFirst = true;
  private fields: Fields = noFields();
  private data: Bytes | undefined;
  /** The lines of data after the first one. */
  private readonly more = new ByteStore();
  private bytes = 0;
  /** The data has become too long: its beginning, if anybody wants to know its end, and that. */
  private long: { head: Bytes | undefined; tail: Buffer } | undefined;

  constructor(
    private readonly maxBytes: () => number,
    private readonly listener: EventListener,
  ) {}

  onLine(line: Bytes): void {
    const { name, value } = this.fieldOf(line);
    if (name === '' && value === undefined) return this.endEvent();
    if (name === 'data') this.addData(value ?? []);
    if (name === 'event') this.fields.name = textOf(value ?? []) || 'message';
    if (name === 'id' || name === 'retry') this.fields[name] = textOf(value ?? []);
  }

  onLongLine(line: Bytes, bytes: number): boolean {
    const { name, value } = this.fieldOf(line);
    if (name !== 'data' || value === undefined) return true;
    if (this.long !== undefined) return false;
    this.append(value);
    this.bytes += bytes;
    return this.becomeLong();
  }

  onLongLineEnd(_line: Bytes, tail: Buffer, bytes: number): void {
    if (this.long === undefined) return;
    this.long.tail = tail;
    this.bytes = Math.max(this.bytes, bytes);
  }

  onEndlessLine(bytes: number): void {
    this.listener.onEndlessLine(bytes);
  }

  private addData(value: Bytes): void {
    this.bytes += value.reduce((sum, block) => sum + block.length, 1);
    if (this.long !== undefined)
      this.long.tail = endOf([this.long.tail, LINE_FEED, ...value], TAIL_BYTES);
    else this.append(value);
    if (this.long === undefined && this.bytes > this.maxBytes()) this.becomeLong();
  }

  private append(value: Bytes): void {
    if (this.data === undefined) {
      this.data = value;
      return;
    }
    this.more.add(LINE_FEED);
    for (const block of value) this.more.add(block);
  }

  private takeData(): Bytes | undefined {
    const { data } = this;
    this.data = undefined;
    return data === undefined ? undefined : [...data, ...this.more.take()];
  }

  /** Only messages are of interest when they are too long. */
  private becomeLong(): boolean {
    const head = this.takeData() ?? [];
    const isOther = this.fields.name !== 'message';
    const isSettled = isOther || this.listener.onLongLine(head, this.bytes);
    this.long = { head: isSettled ? undefined : head, tail: Buffer.alloc(0) };
    return isSettled;
  }

  private endEvent(): void {
    const { long, fields, bytes } = this;
    const data = this.takeData();
    this.fields = noFields();
    this.long = undefined;
    this.bytes = 0;
    if (long === undefined) this.listener.onEvent({ ...fields, data });
    else if (long.head !== undefined) this.listener.onLongLineEnd(long.head, long.tail, bytes);
  }

  /** A value of undefined: the line has no colon. */
  private fieldOf(line: Bytes): { name: string; value: Bytes | undefined } {
    const start = startOf(line, NAME_BYTES);
    const from = this.isFirst && start.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
    this.isFirst = false;
    const colon = start.indexOf(':', from);
    if (colon === -1) return { name: start.slice(from), value: undefined };
    const space = start[colon + 1] === ' ' ? 1 : 0;
    return { name: start.slice(from, colon), value: after(line, colon + 1 + space) };
  }
}

function noFields(): Fields {
  return { name: 'message', id: undefined, retry: undefined };
}
