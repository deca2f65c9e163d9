import type { Clock } from '../../common/clock.js';
import { ignore } from '../../common/ignore.js';
import { within } from '../../common/within.js';
import { connectionClosed } from './task-failures.js';
import { TaskProgress } from './task-progress.js';
import { TaskQuestions } from './task-questions.js';
import { TaskRequests } from './task-requests.js';
import { isTerminal, needsInput, readTask, type TaskState } from './task-state.js';
import type { ToolRequest, ToolResult, UpstreamListener } from '../upstream-call.js';
import { CallCancelled, ResultOversized, UpstreamFailure } from '../upstream-failure.js';
import type { SessionCall, SessionTasks, UpstreamSession } from '../upstream-session.js';

/** 7 days: longer than nearly all calls may take, and not so long that the upstream hoards for ever. */
const ASKED_TTL_MS = 604_800_000;
/** A cancelled call waits so long to learn which task it has to cancel. */
const LEARN_ID_MS = 2_000;
/** A stream that waits for the result already may bring it. */
const LAST_ANSWER_MS = 2_000;

interface KnownTask {
  taskId: string;
  ttlMs: number | null;
}

export interface TaskCallParts {
  session: UpstreamSession;
  tasks: SessionTasks;
  listener: UpstreamListener;
  maxResultBytes: number;
  clock: Clock;
}

/**
 * One `tools/call` that the upstream runs as an MCP task: we ask how it stands until it has ended. It
 * needs no connection in between, so it outlives broken ones.
 */
export class TaskCall implements SessionCall {
  readonly answer: Promise<ToolResult>;
  private readonly requests: TaskRequests;
  private resolve: (result: ToolResult) => void = () => undefined;
  private reject: (failure: UpstreamFailure) => void = () => undefined;
  private isOver = false;
  private timer: NodeJS.Timeout | undefined;
  private creation: SessionCall | undefined;
  private task: KnownTask | undefined;
  private stopFollowing = (): void => undefined;
  /** The request on which questions come; the upstream answers it when the task has ended. */
  private questions: SessionCall | undefined;
  private cancelling: Promise<void> | undefined;
  private cancelled: CallCancelled | undefined;
  private readonly progress: TaskProgress;
  private readonly asked: TaskQuestions;

  private constructor(private readonly parts: TaskCallParts) {
    this.requests = new TaskRequests(parts, (ms) => this.pause(ms));
    this.progress = new TaskProgress((one) => {
      if (!this.isOver) parts.listener.onProgress(one);
    });
    this.asked = new TaskQuestions((question) => parts.listener.onQuestion(question));
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Has the upstream begin. The answer is the result itself where it does not make a task of it. */
  static begin(parts: TaskCallParts, request: ToolRequest): TaskCall {
    const call = new TaskCall(parts);
    call.run(() => call.create(request));
    return call;
  }

  /** Goes on with a task that another process had begun. */
  static resume(parts: TaskCallParts, task: KnownTask): TaskCall {
    const call = new TaskCall(parts);
    call.adopt(task);
    call.run(async () => call.untilEnded(await call.requests.poll(task)));
    return call;
  }

  cancel(reason: string): Promise<void> {
    this.cancelling ??= this.tellAndEnd(reason);
    return this.cancelling;
  }

  abandon(why: string): void {
    this.fail(new UpstreamFailure('upstream_lost', why));
    this.creation?.abandon(why);
  }

  private run(work: () => Promise<ToolResult>): void {
    work().then(
      (result) => this.succeed(result),
      (failure: UpstreamFailure) => void this.giveUp(failure),
    );
  }

  private async create(request: ToolRequest): Promise<ToolResult> {
    this.creation = this.parts.tasks.create(request, ASKED_TTL_MS, (one) =>
      this.progress.progressed(one),
    );
    const answer = await this.creation.answer;
    const task = readTask(answer.task);
    if (task === undefined) return answer;
    this.adopt(task);
    return this.untilEnded(task);
  }

  /** The reference is told before anything else: from here on the work can be found again. */
  private adopt(task: KnownTask): void {
    const { session, tasks, listener } = this.parts;
    const { taskId, ttlMs } = task;
    this.task = task;
    if (session.place !== undefined)
      listener.onReference({ kind: 'task', ...session.place, taskId, ttlMs });
    this.stopFollowing = tasks.follow(taskId, {
      onQuestion: (question) => this.asked.put(question),
      onClosed: () => this.fail(connectionClosed()),
    });
  }

  private async untilEnded(begun: TaskState): Promise<ToolResult> {
    let task = begun;
    while (!isTerminal(task)) {
      this.progress.polled(task);
      if (needsInput(task)) this.listenForQuestions(task.taskId);
      await this.pause(task.pollMs);
      task = await this.pollAfter(task);
    }
    if (this.questions !== undefined)
      await within(LAST_ANSWER_MS, this.questions.answer.catch(ignore));
    return this.requests.result(task);
  }

  /** A task that needs no input any more has given up what it had asked before. */
  private async pollAfter(before: TaskState): Promise<TaskState> {
    const withdraw = this.asked.mark();
    const task = await this.requests.poll(before);
    if (needsInput(before) && !needsInput(task)) withdraw();
    return task;
  }

  /** Questions come on the stream of `tasks/result`; it is asked again if it breaks. */
  private listenForQuestions(taskId: string): void {
    if (this.questions !== undefined) return;
    const { tasks, maxResultBytes } = this.parts;
    this.questions = tasks.ask('tasks/result', taskId, { maxResultBytes });
    this.questions.answer.then(
      (result) => this.succeed(result),
      (failure) => {
        this.questions = undefined;
        if (failure instanceof ResultOversized) this.fail(failure);
      },
    );
  }

  /** Never resolves after the end. */
  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (!this.isOver) this.timer = setTimeout(resolve, ms);
    });
  }

  private async tellAndEnd(reason: string): Promise<void> {
    if (this.isOver) return;
    this.cancelled = new CallCancelled(reason, true);
    if (this.task === undefined) {
      await within(LEARN_ID_MS, Promise.resolve(this.creation?.answer).catch(ignore));
      if (this.task === undefined) await this.creation?.cancel(reason);
    }
    if (this.task !== undefined && !this.isOver) await this.requests.cancel(this.task.taskId);
    this.fail(this.cancelled);
  }

  /** Nobody waits for the task any more, so it shall not go on either. */
  private async giveUp(failure: UpstreamFailure): Promise<void> {
    if (this.isOver) return;
    if (this.task !== undefined && failure.outcomeUnknown)
      await this.requests.cancel(this.task.taskId);
    this.fail(failure);
  }

  private succeed(result: ToolResult): void {
    if (this.end()) this.resolve(result);
  }

  private fail(failure: UpstreamFailure): void {
    if (this.end()) this.reject(this.cancelled ?? failure);
  }

  private end(): boolean {
    if (this.isOver) return false;
    this.isOver = true;
    clearTimeout(this.timer);
    this.stopFollowing();
    this.requests.stop();
    this.questions?.abandon('the task has ended');
    return true;
  }
}
