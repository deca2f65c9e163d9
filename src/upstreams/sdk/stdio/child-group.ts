import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { ignore } from '../../../common/ignore.js';
import { within } from '../../../common/within.js';

const STDIN_END_MS = 1_000;
const TERM_MS = 2_000;
/** For what a program that is over has left behind: nobody waits for it. */
const REST_TERM_MS = 1_000;
const KILL_MS = 1_000;
const LOOK_MS = 20;
/** What it wrote before its end may still be on its way; what it started may keep the pipes open. */
const OUTPUT_REST_MS = 200;

/**
 * A program with everything that it starts: a process group of its own, which is ended whole. What
 * puts itself into another group is out of reach.
 */
export class ChildGroup {
  /** Of the group, and of the program that leads it. */
  readonly id: number;
  /** Resolves when the program itself has ended and its output was read: in words, "exited with code 1". */
  readonly over: Promise<string>;
  /** Resolves after `end`: whether nobody of the group is left. */
  readonly ended: Promise<boolean>;
  private readonly exited: Promise<void>;
  private resolveEnded!: (isGone: boolean) => void;
  private ending: Promise<void> | undefined;

  /** The child has been spawned as the leader of a group. */
  constructor(private readonly child: ChildProcessWithoutNullStreams) {
    this.id = child.pid as number;
    this.ended = new Promise((resolve) => (this.resolveEnded = resolve));
    // A pipe that breaks is told by the write, or by the end of the program.
    for (const one of [child, child.stdin, child.stdout, child.stderr]) one.on('error', ignore);
    this.exited = untilEvent(child, 'exit');
    this.over = this.untilOver();
  }

  /** At once, and whole. */
  kill(): void {
    this.signal('SIGKILL');
  }

  /** What the program writes; it waits when that is not read. */
  get output(): AsyncIterable<Buffer> {
    return this.child.stdout;
  }

  onErrorOutput(listener: (chunk: Buffer) => void): void {
    this.child.stderr.on('data', listener);
  }

  /** Rejects when the program surely did not get all of it. */
  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.child.stdin.write(text, (error) => (error ? reject(error) : resolve()));
    });
  }

  /**
   * Ends its input, then SIGTERM, then SIGKILL to the whole group, each after a while. Resolves when
   * nobody of the group is left, at the latest after 4 s. Never rejects.
   */
  end(): Promise<void> {
    this.ending ??= this.endInSteps();
    return this.ending;
  }

  /**
   * Ends what a program that is over had started, by SIGTERM and 1 s later by SIGKILL, so that its output
   * comes to an end; what is in it already can be read. Never rejects.
   */
  async endRest(): Promise<void> {
    await this.terminate(REST_TERM_MS);
  }

  private async endInSteps(): Promise<void> {
    this.child.stdin.end();
    await within(STDIN_END_MS, this.exited);
    const isGone = await this.terminate(TERM_MS);
    // Held open by what has left the group.
    for (const stream of [this.child.stdout, this.child.stderr]) stream.destroy();
    this.resolveEnded(isGone);
  }

  /** SIGTERM, then SIGKILL; answers whether nobody is left. */
  private async terminate(termMs: number): Promise<boolean> {
    if (!this.signal('SIGTERM') || (await this.isGoneWithin(termMs))) return true;
    this.kill();
    return this.isGoneWithin(KILL_MS);
  }

  private async isGoneWithin(limitMs: number): Promise<boolean> {
    const limit = AbortSignal.timeout(limitMs);
    while (this.signal(0)) {
      if (limit.aborted) return false;
      await sleep(LOOK_MS);
    }
    return true;
  }

  /** Answers whether there is anybody in the group, also those who may not be told (EPERM). */
  private signal(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-this.id, signal);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'ESRCH';
    }
  }

  private async untilOver(): Promise<string> {
    const { child } = this;
    const closed = untilEvent(child, 'close');
    await Promise.race([this.exited, untilEvent(child.stdout, 'close')]);
    await within(OUTPUT_REST_MS, closed);
    // Writes that can't be made any more have failed by the next turn of the event loop.
    await nextTurn();
    if (child.signalCode !== null) return `was ended by ${child.signalCode}`;
    return child.exitCode === null ? 'closed its output' : `exited with code ${child.exitCode}`;
  }
}

function untilEvent(emitter: EventEmitter, event: string): Promise<void> {
  return new Promise((resolve) => emitter.once(event, () => resolve()));
}
