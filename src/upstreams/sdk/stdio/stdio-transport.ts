import { within } from '../../../common/within.js';
import type { StdioMcpServer } from '../../mcp-server.js';
import { SessionForgotten } from '../../upstream-failure.js';
import { MessageTransport } from '../messages/message-transport.js';
import type { Write } from '../messages/send-scope.js';
import { unreachable } from '../sdk-failure.js';
import { reasonOf } from '../sdk-reason.js';
import { type Bytes, textOf } from '../streams/byte-store.js';
import { type LineListener, LineSplitter } from '../streams/line-splitter.js';
import type { ChildGroup } from './child-group.js';
import { OutputTail } from './output-tail.js';
import type { Program, ProgramStarter } from './program-starter.js';

/** After the end of a program: nothing more of its output comes when there was none for so long. */
const SILENCE_MS = 200;
/** So long what came is delivered. */
const LAST_OUTPUT_MS = 5_000;

/** stdio: a program of our own for each connection, which reads and writes one message a line. */
export class StdioTransport extends MessageTransport implements LineListener {
  private readonly program: Program;
  private readonly said = new OutputTail();
  private child: ChildGroup | undefined;
  private isReleased = false;
  /** Until the output of the program is over. Never rejects. */
  private reading: Promise<void> = Promise.resolve();

  constructor(
    { command, args, env }: StdioMcpServer,
    inheritedEnvironment: Readonly<Record<string, string>>,
    private readonly programs: ProgramStarter,
  ) {
    super();
    this.program = { command, args, env: { ...inheritedEnvironment, ...env } };
  }

  get lastWords(): string | undefined {
    return this.said.lastLine;
  }

  async start(): Promise<void> {
    const child = await this.startChild();
    const lines = new LineSplitter({ maxBytes: this.maxMessageBytes, endsAtReturn: false }, this);
    child.onErrorOutput((chunk) => this.said.add(chunk.toString()));
    // Output that breaks off is over, which is told as such.
    this.reading = this.readAll(child.output, lines).catch(() => undefined);
    void child.over.then((ending) => this.ended(ending));
  }

  /** What is no message may tell why the program ends. */
  onLine(line: Bytes): void {
    if (!this.receive(line)) this.said.add(`${textOf(line)}\n`);
  }

  protected writer(message: string): Write {
    return async () => {
      try {
        await this.child?.write(`${message}\n`);
      } catch (error) {
        // The end of the program is not known yet, but this message it did not read.
        throw new SessionForgotten(`The server program takes no requests: ${reasonOf(error)}`);
      }
    };
  }

  protected async release(): Promise<void> {
    this.isReleased = true;
    await this.child?.end();
  }

  /**
   * What it wrote last is delivered before, and may be much; what has left its group may keep its output
   * open.
   */
  private async ended(ending: string): Promise<void> {
    void this.child?.endRest();
    const limit = AbortSignal.timeout(LAST_OUTPUT_MS);
    let isOver = false;
    for (let last; !isOver && last !== this.delivered && !limit.aborted;) {
      last = this.delivered;
      await last.catch(() => undefined);
      isOver = await within(SILENCE_MS, this.reading);
    }
    this.lose(this.withLastWords(ending));
  }

  private async startChild(): Promise<ChildGroup> {
    try {
      this.child = await this.programs.start(this.program);
    } catch (error) {
      throw unreachable(this.startReason(error));
    }
    if (!this.isReleased) return this.child;
    await this.child.end();
    throw unreachable('the connection was closed while the program started');
  }

  private startReason(error: unknown): string {
    const { code } = error as { code?: string };
    const { command } = this.program;
    if (code === 'ENOENT') return `there is no program "${command}" (ENOENT)`;
    if (code === 'EACCES') return `the program "${command}" may not be executed (EACCES)`;
    return `the program "${command}" could not be started: ${reasonOf(error)}`;
  }

  private withLastWords(ending: string): string {
    const { lastWords } = this;
    return `the server program ${ending}${lastWords === undefined ? '' : `: ${lastWords}`}`;
  }
}
