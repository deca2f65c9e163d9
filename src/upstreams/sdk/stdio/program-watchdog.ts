import { type ChildProcess, spawn } from 'node:child_process';
import type { Logger } from '../../../common/logger.js';

/**
 * Its arguments, and then each line, are the whole list of groups that run by now. When the pipe closes, however this process ended,
 * those of the last list are ended in the steps of `ChildGroup`: the end of their input they have seen. A
 * group that is gone once is not told again. The shell itself stays when signals come to all of us.
 */
const SCRIPT = [
  "trap '' HUP INT TERM",
  'groups=$*',
  'while read -r list; do groups=$list; done',
  'tell() {',
  '  left=; for group in $groups; do kill -0 "-$group" && left="$left $group"; done',
  '  groups=$left; [ -n "$groups" ] || exit 0',
  '  for group in $groups; do kill "$1" "-$group"; done',
  '}',
  'tell -0; sleep 1',
  'tell -TERM; sleep 1; tell -0; sleep 1',
  'tell -KILL',
].join('\n');

const ENVIRONMENT = { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin' };
/** One that ends sooner would end again. */
const SHORTEST_LIFE_MS = 1_000;

/**
 * Ends programs when this process ends without a chance to do it: one shell for all of them, which is
 * there while any is.
 */
export class ProgramWatchdog {
  private readonly groups = new Set<number>();
  private shell: ChildProcess | undefined;

  constructor(private readonly logger: Logger) {}

  /** Starts a program as the leader of its group. The shell comes first, so that it hears of it at once. */
  start<T extends ChildProcess>(startProgram: () => T): T {
    this.shell ??= this.startShell();
    const program = startProgram();
    if (program.pid !== undefined) this.groups.add(program.pid);
    this.tell();
    return program;
  }

  /** Nobody of the group is left: its number may be another's from now on. */
  forget(group: number): void {
    this.groups.delete(group);
    this.tell();
  }

  private tell(): void {
    const input = this.shell?.stdin;
    input?.write(`${[...this.groups].join(' ')}\n`);
    if (this.groups.size > 0) return;
    this.shell = undefined;
    input?.end();
  }

  private startShell(): ChildProcess {
    const startedAt = performance.now();
    const groups = [...this.groups].map(String);
    const shell = spawn('/bin/sh', ['-c', SCRIPT, 'background-calls-watchdog', ...groups], {
      env: ENVIRONMENT,
      cwd: '/',
      detached: true, // what ends our group leaves it to do its work
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const lost = (reason: string): void => this.lost(shell, reason, startedAt);
    // A pipe that breaks is told by the end of the shell.
    shell.stdin.on('error', () => undefined);
    shell.once('error', ({ message }) => lost(message));
    shell.once('exit', (code, signal) => lost(`exit ${code ?? signal}`));
    return shell;
  }

  private lost(shell: ChildProcess, reason: string, startedAt: number): void {
    if (this.shell !== shell) return;
    this.shell = undefined;
    this.logger.warn('upstream_program.watchdog_lost', { reason });
    if (performance.now() - startedAt < SHORTEST_LIFE_MS) return;
    this.shell = this.startShell();
  }
}
