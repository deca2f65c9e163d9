import { outsideRequestContext } from './request-context.js';

/** Work that is done again and again, each time a pause after the time before: never twice at once. */
export class RepeatedWork {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private isStopped = false;

  /** `work` never rejects. */
  constructor(
    private readonly pauseMs: number,
    private readonly work: () => Promise<void>,
  ) {}

  /** The first time is `firstMs` from now. */
  start(firstMs = this.pauseMs): void {
    if (this.isStopped) return;
    this.timer = outsideRequestContext(() => setTimeout(() => this.workOnce(), firstMs));
  }

  /** Resolves when what is being done at the moment is done. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private workOnce(): void {
    this.running = this.work().then(() => this.start());
  }
}
