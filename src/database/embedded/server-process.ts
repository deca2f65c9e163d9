import { spawn, type ChildProcess } from 'node:child_process';
import { EmbeddedDatabaseError } from './embedded-database.error.js';
import type { ServerUser } from './server-user.js';

/**
 * Runs the server beside a reader of our pipe: when this process ends, however it ends, the pipe
 * closes and the server is told to stop (SIGINT: fast shutdown). The shell is the server's parent
 * and ends with its exit code.
 */
const WATCHDOG = [
  'exec 3<&0',
  '"$@" </dev/null 3<&- & server=$!',
  '{ while read -r _; do :; done <&3; kill -INT $server 2>/dev/null; } & reader=$!',
  'exec 3<&-',
  'wait $server; code=$?',
  'kill $reader 2>/dev/null',
  'exit $code',
].join('\n');

const READY = 'ready to accept connections';
const KEPT_OUTPUT = 8_000;

/** Not ours: PG* variables of the caller would bend the server and initdb. */
export const SERVER_ENVIRONMENT = {
  LC_ALL: 'C',
  TZ: 'UTC',
  PATH: '/usr/local/bin:/usr/bin:/bin',
};

/** One run of the server program, from its start to its exit. */
export class ServerProcess {
  private output = '';
  private readonly child: ChildProcess;
  /** Resolves to the last lines of output when the server has ended. */
  readonly exited: Promise<string>;

  private constructor(command: string[], user: ServerUser | undefined) {
    this.child = spawn('/bin/sh', ['-c', WATCHDOG, 'background-calls-postgres', ...command], {
      ...user,
      env: SERVER_ENVIRONMENT,
      cwd: '/',
      detached: true, // its own process group: Ctrl-C is for us, and we stop it when all is written
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    this.child.stdin?.on('error', () => undefined); // the watchdog is gone: `exited` tells
    this.exited = new Promise((resolve) => {
      this.child.once('error', (error) => resolve(error.message));
      this.child.once('exit', (code, signal) =>
        setImmediate(() => resolve(`exit ${code ?? signal}\n${this.output.trim()}`)),
      );
    });
  }

  /**
   * Resolves when the server takes connections.
   * @throws EmbeddedDatabaseError with the server's own words when it ends instead.
   */
  static async start(command: string[], user: ServerUser | undefined): Promise<ServerProcess> {
    const server = new ServerProcess(command, user);
    const reason = await Promise.race([server.ready(), server.exited]);
    if (reason === undefined) return server;
    throw new EmbeddedDatabaseError(`the embedded PostgreSQL did not start: ${reason}`);
  }

  /** Tells the server to stop and waits until it has. */
  async stop(): Promise<void> {
    this.child.stdin?.end();
    await this.exited;
  }

  private ready(): Promise<undefined> {
    return new Promise((resolve) => {
      this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        this.output = (this.output + text).slice(-KEPT_OUTPUT);
        if (this.output.includes(READY)) resolve(undefined);
      });
    });
  }
}
