import { ignore } from '../../common/ignore.js';
import { toToolCallParams } from './tool-call-params.js';
import type {
  QuestionListener,
  SessionCall,
  SessionTasks,
  TaskFollower,
  TaskLimits,
  TaskMethod,
} from '../upstream-session.js';
import type { QuestionAnswer, ToolRequest, UpstreamProgress } from '../upstream-call.js';
import type { RequestParts } from './sdk-request.js';
import type { SessionQuestions } from './session-questions.js';
import type { UpstreamClient } from './upstream-client.js';

/** The requests about the tasks of one session. */
export class SdkTasks implements SessionTasks {
  private readonly followers = new Set<TaskFollower>();

  constructor(
    private readonly client: UpstreamClient,
    private readonly send: (parts: RequestParts) => SessionCall,
    private readonly questions: SessionQuestions,
    private readonly isClosed: () => boolean,
  ) {}

  create(
    request: ToolRequest,
    ttl: number,
    onProgress: (progress: UpstreamProgress) => void,
  ): SessionCall {
    const { traceparent, maxResultBytes } = request;
    const params = { ...toToolCallParams(request), task: { ttl } };
    const parts = { params, traceparent, maxResultBytes, onProgress, outlivesAnswer: true };
    return this.send({ method: 'tools/call', ...parts });
  }

  ask(
    method: TaskMethod,
    taskId: string,
    { limitMs, maxResultBytes: maxBytes }: TaskLimits,
  ): SessionCall {
    const maxResultBytes = method === 'tasks/result' ? maxBytes : undefined;
    const request = this.send({ method, params: { taskId }, maxResultBytes });
    if (limitMs === undefined) return request;
    const why = `no answer in ${limitMs} ms`;
    const limit = setTimeout(() => void request.cancel(why), limitMs);
    request.answer.catch(ignore).finally(() => clearTimeout(limit));
    return request;
  }

  follow(taskId: string, follower: TaskFollower): () => void {
    let takeBack = (): void => undefined;
    const over = new Promise<QuestionAnswer>((resolve) => {
      takeBack = () => resolve({ action: 'cancel' });
    });
    const onQuestion: QuestionListener = (question) =>
      Promise.race([follower.onQuestion(question), over]);
    this.followers.add(follower);
    this.questions.addTask(taskId, onQuestion);
    if (this.isClosed()) follower.onClosed();
    return () => {
      this.followers.delete(follower);
      takeBack();
      this.questions.removeTask(taskId);
      this.client.dropTaskProgress(taskId);
    };
  }

  closed(): void {
    for (const follower of this.followers) follower.onClosed();
  }
}
