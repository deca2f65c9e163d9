import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../../common/within.js';

const STDIN_END_MS = 1_000;
const TERM_MS = 2_000;
const KILL_MS = 1_000;
const LOOK_MS = 20;
/** What it wrote before its end may still be on its way; what it started may keep the pipes open. */
const OUTPUT_REST_MS = 200;

export interface Program {
  command: string;
  args: readonly string[];
  /** The whole environment. */
  env: Record<string, string>;
}

/**
 * A program with everything that it starts: a process group of its own, which is ended whole. What
 * puts itself into another group is out of reach.
 */
export class ChildGroup {
  /** Killed when this process ends at once, without a chance to end them in order. */
  private static readonly living = new Set<ChildGroup>();
  /** Resolves when the program itself has ended and its output was read: in words, "exited with code 1". */
  readonly over: Promise<string>;
  private readonly exited: Promise<void>;
  private ending: Promise<void> | undefined;

  private constructor(private readonly child: ChildProcessWithoutNullStreams) {
    // A pipe that breaks is told by the write, or by the end of the program.
    for (const one of [child, child.stdin, child.stdout, child.stderr]) one.on('error', ignore);
    this.exited = untilEvent(child, 'exit');
    this.over = this.untilOver();
    ChildGroup.living.add(this);
  }

  /** Starts it, without a shell. @throws the system's error when that fails. */
  static async start({ command, args, env }: Program): Promise<ChildGroup> {
    const child = spawn(command, args, { env, detached: true, shell: false, stdio: 'pipe' });
    await once(child, 'spawn');
    return new ChildGroup(child);
  }

  static killAll(): void {
    for (const group of ChildGroup.living) group.signal('SIGKILL');
  }

  onOutput(onStdout: (chunk: Buffer) => void, onStderr: (chunk: Buffer) => void): void {
    this.child.stdout.on('data', onStdout);
    this.child.stderr.on('data', onStderr);
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
    this.ending ??= this.endInSteps().finally(() => ChildGroup.living.delete(this));
    return this.ending;
  }

  private async endInSteps(): Promise<void> {
    this.child.stdin.end();
    await within(STDIN_END_MS, this.exited);
    if (this.signal('SIGTERM') && !(await this.isGoneWithin(TERM_MS))) {
      this.signal('SIGKILL');
      await this.isGoneWithin(KILL_MS);
    }
    // Held open by what has left the group.
    for (const stream of [this.child.stdout, this.child.stderr]) stream.destroy();
  }

  private async isGoneWithin(limitMs: number): Promise<boolean> {
    const limit = AbortSignal.timeout(limitMs);
    while (this.signal(0)) {
      if (limit.aborted) return false;
      await sleep(LOOK_MS);
    }
    return true;
  }

  /** Answers whether there was anybody in the group to tell. */
  private signal(signal: NodeJS.Signals | 0): boolean {
    try {
      return this.child.pid !== undefined && process.kill(-this.child.pid, signal);
    } catch {
      return false;
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

process.on('exit', () => ChildGroup.killAll());

function untilEvent(emitter: EventEmitter, event: string): Promise<void> {
  return new Promise((resolve) => emitter.once(event, () => resolve()));
}

function ignore(): void {}
