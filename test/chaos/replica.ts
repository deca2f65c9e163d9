import { PostgresProxy } from '../support/postgres-proxy.js';
import { ServiceProcess } from '../support/service-process.js';
import type { ChaosWorld } from './chaos-world.js';

const STARTS = 3;

/** One of the processes behind the address that clients use; it comes again after each death. */
export class Replica {
  private process: ServiceProcess | undefined;
  private starts = 0;
  private isPaused = false;

  private constructor(
    readonly name: string,
    private readonly world: ChaosWorld,
    /** Between it and the database. */
    readonly proxy: PostgresProxy,
  ) {}

  static async create(name: string, world: ChaosWorld): Promise<Replica> {
    return new Replica(name, world, await PostgresProxy.start(world.database.url));
  }

  /** Undefined while it is down. */
  get running(): ServiceProcess | undefined {
    return this.process;
  }

  /** Where a load balancer sends requests. */
  get url(): string | undefined {
    return this.isPaused ? undefined : this.process?.url;
  }

  /** As whatever keeps services running does: a start that fails, as the database is slow, is made again. */
  async start(): Promise<ServiceProcess> {
    for (let tries = 1; ; tries++) {
      this.starts += 1;
      const address = this.world.database.addressFor(`${this.name}-${this.starts}`, this.proxy.url);
      try {
        this.process = await ServiceProcess.start(this.world.environment(address));
        return this.process;
      } catch (error) {
        this.world.sightings.count('failed starts');
        if (tries === STARTS) throw error;
      }
    }
  }

  /** Answers the exit code, or the signal that ended it. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | string | undefined> {
    const ending = this.process;
    this.process = undefined;
    return ending?.end(signal);
  }

  /** It keeps what it has, and does not run. */
  pause(): void {
    this.isPaused = true;
    this.process?.signal('SIGSTOP');
  }

  resume(): void {
    this.process?.signal('SIGCONT');
    this.isPaused = false;
  }

  async close(): Promise<void> {
    this.resume();
    await this.end('SIGKILL');
    await this.proxy.stop();
  }
}
