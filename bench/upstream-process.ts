import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./upstream.ts', import.meta.url));

/** The upstream of a figure, so that its work is nobody else's. */
export class UpstreamProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(): Promise<UpstreamProcess> {
    const child = spawn(process.execPath, [...process.execArgv, PROGRAM], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    return new UpstreamProcess(child, url);
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }
}
