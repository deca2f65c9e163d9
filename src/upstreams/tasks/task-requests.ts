import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../common/clock.js';
import { within } from '../../common/within.js';
import { isTaskGone, resultFailure, taskGone, taskUnreachable } from './task-failures.js';
import { readTask, type TaskState } from './task-state.js';
import type { ToolResult } from '../upstream-call.js';
import {
  ResultOversized,
  RpcFailure,
  SessionForgotten,
  UpstreamFailure,
} from '../upstream-failure.js';
import type { SessionCall, SessionTasks, TaskMethod } from '../upstream-session.js';

interface TaskRequestParts {
  tasks: SessionTasks;
  maxResultBytes: number;
  clock: Clock;
}

const POLL_LIMIT_MS = 15_000;
/** A result may be large. */
const RESULT_LIMIT_MS = 300_000;
/** An upstream that is restarted or redeployed may keep its tasks. */
const GIVE_UP_MS = 60_000;
const BACKOFF_MS = [250, 500, 1_000, 2_000, 4_000, 8_000];
const CANCEL_MS = 4_000;
const CANCEL_RETRY_MS = 300;

/** The requests about one task; those that only read are tried again for a minute. */
export class TaskRequests {
  private reading: SessionCall | undefined;

  constructor(
    private readonly parts: TaskRequestParts,
    private readonly pause: (ms: number) => Promise<void>,
  ) {}

  /** How the task stands. @throws UpstreamFailure `upstream_lost`, outcome unknown */
  async poll(task: Pick<TaskState, 'taskId' | 'ttlMs'>): Promise<TaskState> {
    const { taskId, ttlMs } = task;
    const read = async (): Promise<TaskState> => {
      const told = await this.read('tasks/get', taskId, POLL_LIMIT_MS);
      const state = readTask({ taskId, ...told });
      if (state !== undefined) return state;
      throw new UpstreamFailure(
        'upstream_error',
        'The upstream answered tasks/get without a task.',
      );
    };
    try {
      return await this.persist(read, isTaskGone);
    } catch (failure) {
      throw isTaskGone(failure) ? taskGone(ttlMs, (failure as Error).message) : failure;
    }
  }

  /** What came of a task that has ended. @throws UpstreamFailure */
  async result(task: TaskState): Promise<ToolResult> {
    const read = (): Promise<ToolResult> => this.read('tasks/result', task.taskId, RESULT_LIMIT_MS);
    const isFinal = (failure: unknown): boolean =>
      failure instanceof RpcFailure ||
      failure instanceof SessionForgotten ||
      failure instanceof ResultOversized;
    try {
      return await this.persist(read, isFinal);
    } catch (failure) {
      if (failure instanceof ResultOversized) throw failure;
      throw resultFailure(task, failure as UpstreamFailure);
    }
  }

  /** Nobody waits for what is being read. */
  stop(): void {
    this.reading?.abandon('the call has ended');
  }

  /** Resolves when the upstream was told, or could not be told within 4 s. Never rejects. */
  async cancel(taskId: string): Promise<void> {
    let isLate = false;
    const tell = async (): Promise<void> => {
      while (!isLate && !(await this.tellCancel(taskId))) await sleep(CANCEL_RETRY_MS);
    };
    await within(CANCEL_MS, tell());
    isLate = true;
  }

  /** Whether it need not be told again; an upstream refuses it for a task that has ended. */
  private async tellCancel(taskId: string): Promise<boolean> {
    try {
      await this.ask('tasks/cancel', taskId, CANCEL_MS).answer;
      return true;
    } catch (failure) {
      return failure instanceof RpcFailure || failure instanceof SessionForgotten;
    }
  }

  private ask(method: TaskMethod, taskId: string, limitMs: number): SessionCall {
    const { tasks, maxResultBytes } = this.parts;
    return tasks.ask(method, taskId, { limitMs, maxResultBytes });
  }

  private async read(
    method: TaskMethod,
    taskId: string,
    limitMs: number,
  ): Promise<Record<string, unknown>> {
    this.reading = this.ask(method, taskId, limitMs);
    try {
      return await this.reading.answer;
    } finally {
      this.reading = undefined;
    }
  }

  private async persist<T>(
    read: () => Promise<T>,
    isFinal: (failure: unknown) => boolean,
  ): Promise<T> {
    const beganMs = this.parts.clock.monotonicMs();
    for (let failures = 0; ; failures++) {
      try {
        return await read();
      } catch (failure) {
        if (isFinal(failure)) throw failure;
        const forMs = this.parts.clock.monotonicMs() - beganMs;
        if (forMs >= GIVE_UP_MS) throw taskUnreachable(forMs, (failure as Error).message);
        await this.pause(BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] as number);
      }
    }
  }
}
