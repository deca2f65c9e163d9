import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SCRIPT = fileURLToPath(new URL('../../scripts/image-without-docker.mjs', import.meta.url));

interface Description {
  user: { uid?: number; gid?: number };
  workdir: string;
  environment: Record<string, string>;
  command: string[];
  healthcheck: string[];
  stopSignal: NodeJS.Signals;
}

/** What the Dockerfile makes, built in a folder without Docker. */
export class Image {
  private constructor(private readonly description: Description) {}

  static async build(folder: string): Promise<Image> {
    const args = [SCRIPT, folder];
    const options = { maxBuffer: 2 ** 26 };
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    return new Image(JSON.parse(stdout) as Description);
  }

  get stopSignal(): NodeJS.Signals {
    return this.description.stopSignal;
  }

  get environment(): Readonly<Record<string, string>> {
    return this.description.environment;
  }

  path(inWorkdir: string): string {
    return join(this.description.workdir, inWorkdir);
  }

  /** Starts what a container would run; nothing but this environment is added to that of the image. */
  run(env: Record<string, string>): ChildProcess {
    return this.spawn(this.description.command, env);
  }

  /** Runs the health check beside it. */
  checkHealth(env: Record<string, string>): ChildProcess {
    return this.spawn(this.description.healthcheck, env);
  }

  private spawn([, ...args]: string[], env: Record<string, string>): ChildProcess {
    const { user, workdir, environment } = this.description;
    return spawn(process.execPath, args, {
      ...user,
      cwd: workdir,
      env: { ...environment, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
}
