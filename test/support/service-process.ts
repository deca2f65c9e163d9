import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { changeSettings, registerServer } from './administration.js';
import { Api } from './api.js';
import { Engine } from './engine.js';
import { KEYS } from './keys.js';

const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));

/** The service as a process of its own, to be killed. */
export class ServiceProcess {
  readonly agent: Api;
  readonly admin: Api;

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    /** The lines that it has written to its standard output so far. */
    readonly lines: readonly string[],
  ) {
    this.agent = new Api(url, KEYS.BGC_AGENT_KEY);
    this.admin = new Api(url, KEYS.BGC_ADMIN_KEY);
  }

  /** Resolves at the log line `service.ready`. `nodeArgs` are for Node.js itself, `setUp` is run by a shell before. */
  static start(
    env: Record<string, string>,
    nodeArgs: readonly string[] = [],
    setUp = ':',
  ): Promise<ServiceProcess> {
    const workspaces = join(tmpdir(), 'workspaces');
    const command = [process.execPath, ...nodeArgs, MAIN];
    const child = spawn('sh', ['-c', `${setUp}; exec "$@"`, 'sh', ...command], {
      env: {
        ...process.env,
        ...KEYS,
        PORT: '0',
        BGC_OUTBOUND_ALLOW: '127.0.0.1',
        BGC_DEMO: 'false',
        LOG_LEVEL: 'info',
        BGC_WORKSPACES_DIR: workspaces,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return ServiceProcess.whenReady(child);
  }

  /** A process that was started with `KEYS`, and whose standard output can be read. */
  static async whenReady(child: ChildProcess): Promise<ServiceProcess> {
    const lines: string[] = [];
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout! }).on('line', (line) => {
        lines.push(line);
        const said = parse(line);
        if (said.event === 'service.ready' && said.url !== undefined) resolve(said.url);
      });
      child.once('error', reject);
      child.once('exit', (code, by) =>
        reject(new Error(`it ended with ${code ?? by}: ${lines.join()}`)),
      );
    });
    return new ServiceProcess(child, url, lines);
  }

  /** The log lines that carry this value in this field. */
  logged(field: string, value: string): Record<string, unknown>[] {
    return this.lines.map(parse).filter((line) => line[field] === value);
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('the process has not started');
    return this.child.pid;
  }

  async register(name: string, url: string): Promise<void> {
    await registerServer(this.admin, name, url);
  }

  async settings(changes: object): Promise<void> {
    await changeSettings(this.admin, changes);
  }

  session(sessionId: string): Engine {
    return new Engine(this.agent, sessionId);
  }

  /** Sends a signal and answers the exit code, or the signal that ended the process. */
  async end(signal: NodeJS.Signals): Promise<number | string> {
    const ended = this.whenEnded();
    this.child.kill(signal);
    return ended;
  }

  /** The exit code, or the signal that ended the process. */
  async whenEnded(): Promise<number | string> {
    const hasEnded = this.child.exitCode ?? this.child.signalCode;
    if (hasEnded !== null) return hasEnded;
    const [code, by] = (await once(this.child, 'exit')) as [number | null, string | null];
    return code ?? by ?? 'unknown';
  }

  /** Undefined while it runs. */
  get exitCode(): number | undefined {
    return this.child.exitCode ?? undefined;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

function parse(line: string): Record<string, unknown> & { event?: string; url?: string } {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
}
