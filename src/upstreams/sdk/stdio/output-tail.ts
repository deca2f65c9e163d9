import { cutText } from '../../../common/storable-text.js';

const KEPT_CHARS = 4_096;
const MAX_LINE_CHARS = 500;
/** Colours and other commands to a terminal. */
const TERMINAL_CODES = /\p{Cc}\[[0-9;?]*[A-Za-z]/gu;
/** Where a stack trace goes on, and what Node.js says after it. */
const AFTER_THE_ERROR = /^\s|^Node\.js v\d/;

/** The end of what a program says beside the protocol: enough to tell why it ended. */
export class OutputTail {
  private text = '';

  add(text: string): void {
    this.text = (this.text + text).slice(-KEPT_CHARS);
  }

  /** The last line that says something, without stack trace; undefined when nothing was said. */
  get lastLine(): string | undefined {
    const lines = this.text
      .replaceAll(TERMINAL_CODES, '')
      .split('\n')
      .filter((line) => /\p{L}/u.test(line));
    const line = lines.findLast((one) => !AFTER_THE_ERROR.test(one)) ?? lines.at(-1);
    return line && cutText(line.replaceAll(/\p{Cc}/gu, ' ').trim(), MAX_LINE_CHARS);
  }
}
