import type { Line } from '../messages/line-splitter.js';

const KEPT_CHARS = 512;

export interface ServerEvent {
  name: string;
  data: Line;
}

/** Puts the lines of an event stream together to events; ids, retry times and comments are passed over. */
export class EventReader {
  private name = '';
  private data: string[] = [];
  private chars = 0;

  constructor(
    private readonly maxChars: number,
    private readonly onEvent: (event: ServerEvent) => void,
  ) {}

  read(line: Line): void {
    if (!line.isWhole) return this.flush({ ...line, head: fieldOf(line.head).value });
    if (line.text === '') return this.endEvent();
    const { field, value } = fieldOf(line.text);
    if (field === 'event') this.name = value;
    if (field !== 'data') return;
    this.chars += value.length + 1;
    if (this.chars <= this.maxChars) this.data.push(value);
  }

  private endEvent(): void {
    const text = this.data.join('\n');
    if (this.chars > this.maxChars)
      this.flush({ isWhole: false, head: text.slice(0, KEPT_CHARS), tail: '' });
    else if (this.data.length > 0) this.flush({ isWhole: true, text });
    else this.name = '';
  }

  private flush(data: Line): void {
    const name = this.name === '' ? 'message' : this.name;
    this.name = '';
    this.data = [];
    this.chars = 0;
    this.onEvent({ name, data });
  }
}

function fieldOf(line: string): { field: string; value: string } {
  const colon = line.indexOf(':');
  if (colon === -1) return { field: line, value: '' };
  return { field: line.slice(0, colon), value: line.slice(colon + 1).replace(/^ /, '') };
}
