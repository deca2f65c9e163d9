import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./open-database.mjs', import.meta.url));

/** What `open-database.mjs` says. */
interface Opened {
  url?: string;
  error?: string;
}

interface OwnerOptions {
  /** The folder with `dist` and `node_modules`; this package unless said otherwise. */
  packageDir?: string;
  /** Where the server goes when it cannot enter the data folder. */
  systemDir: string;
}

/** A process that owns an embedded database, as the service does. */
export class DatabaseOwner {
  private constructor(
    private readonly child: ChildProcess,
    /** The address of its database; undefined when it could not be opened. */
    readonly url: string | undefined,
    /** Why the database could not be opened. */
    readonly error: string | undefined,
    private readonly lines: string[],
  ) {}

  /** Resolves when the process has opened its database, or has said why it cannot. */
  static async start(dataDir: string, options: OwnerOptions): Promise<DatabaseOwner> {
    const { packageDir = PACKAGE, systemDir } = options;
    const args = [PROGRAM, packageDir, dataDir, systemDir];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines: string[] = [];
    const opened = await new Promise<Opened>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        lines.push(line);
        const said = JSON.parse(line) as Opened;
        if (said.url ?? said.error) resolve(said);
      });
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`ended with ${code}: ${lines.join('\n')}`)));
    });
    return new DatabaseOwner(child, opened.url, opened.error, lines);
  }

  /** Ends the process and waits for that; the server may need a moment longer. */
  async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill(signal);
    await exited;
  }

  /** Whether it has logged this event. */
  hasLogged(event: string): boolean {
    return this.lines.some((line) => line.includes(`"event":"${event}"`));
  }
}
