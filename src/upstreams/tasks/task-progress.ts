import type { TaskState } from './task-state.js';
import type { UpstreamProgress } from '../upstream-call.js';

/** What a task tells of how far it is: by progress notifications, and by its status message. */
export class TaskProgress {
  private latest: UpstreamProgress = { progress: 0 };
  private message: string | undefined;

  constructor(private readonly listener: (progress: UpstreamProgress) => void) {}

  progressed(progress: UpstreamProgress): void {
    this.latest = progress;
    this.listener(progress);
  }

  /** A new message is told with the numbers that came last. */
  polled({ statusMessage }: TaskState): void {
    if (statusMessage === undefined || statusMessage === this.message) return;
    this.message = statusMessage;
    this.progressed({ ...this.latest, message: statusMessage });
  }
}
