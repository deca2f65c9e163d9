import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { QuestionAnswer, UpstreamQuestion } from '../upstream-call.js';
import type { QuestionListener } from '../upstream-session.js';
import type { UpstreamClient } from './upstream-client.js';

const RELATED_TASK = 'io.modelcontextprotocol/related-task';

interface Asked {
  method: string;
  params?: Record<string, unknown> & { _meta?: Record<string, unknown> };
}

/**
 * Questions of the upstream (`elicitation/create`), each put to the call that it belongs to: it names
 * the task, or comes on the stream of the call. One whose call is not known is refused.
 */
export class SessionQuestions {
  private readonly byTask = new Map<string, QuestionListener>();

  constructor(
    client: UpstreamClient,
    /** The call on whose stream the message came that is handled now. */
    private readonly ofStream: () => QuestionListener | undefined,
  ) {
    client.fallbackRequestHandler = (request, { signal }) => this.handle(request, signal);
  }

  addTask(taskId: string, listener: QuestionListener): void {
    this.byTask.set(taskId, listener);
  }

  removeTask(taskId: string): void {
    this.byTask.delete(taskId);
  }

  private async handle({ method, params = {} }: Asked, signal: AbortSignal): Promise<object> {
    const taskId = (params._meta?.[RELATED_TASK] as { taskId?: unknown } | undefined)?.taskId;
    const listener = taskId === undefined ? this.ofStream() : this.byTask.get(taskId as string);
    if (method !== 'elicitation/create' || listener === undefined)
      throw new McpError(ErrorCode.MethodNotFound, 'Method not found');
    return answerOrAbort(listener(toQuestion(params)), signal);
  }
}

function toQuestion({ message, requestedSchema }: Record<string, unknown>): UpstreamQuestion {
  if (typeof requestedSchema !== 'object' || requestedSchema === null)
    throw new McpError(ErrorCode.InvalidParams, 'Only questions with a requestedSchema are taken');
  return {
    message: typeof message === 'string' ? message : '',
    schema: requestedSchema as Record<string, unknown>,
  };
}

/** A question that the upstream takes back is not waited for. */
function answerOrAbort(answer: Promise<QuestionAnswer>, signal: AbortSignal): Promise<object> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('The question was taken back')));
  });
  return Promise.race([answer, aborted]);
}
