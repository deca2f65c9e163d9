import { ErrorCode, McpError, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { QuestionAnswer, UpstreamQuestion } from '../upstream-call.js';
import type { QuestionListener } from '../upstream-session.js';
import type { UpstreamClient } from './upstream-client.js';

const RELATED_TASK = 'io.modelcontextprotocol/related-task';

const SEVERAL =
  'Several calls run on this connection, and the question does not say which one it belongs to: ' +
  'register the server with "sharing": "call"';

interface Asked {
  method: string;
  params?: Record<string, unknown> & { _meta?: Record<string, unknown> };
}

/** The calls of a session that can be asked something. */
interface AskableCalls {
  /** Calls of different sessions or bots use the session: none is guessed at. */
  isShared: boolean;
  /** The one on whose stream the message came that is handled now, where that can be known. */
  onStream(): QuestionListener | undefined;
  running(): QuestionListener[];
}

/**
 * Questions of the upstream (`elicitation/create`), each put to the call that it belongs to: it names
 * the task, comes on the stream of the call, or the call is the only one. Other requests are refused.
 */
export class SessionQuestions {
  private readonly byTask = new Map<string, QuestionListener>();
  private readonly open = new Map<RequestId, AbortController>();

  constructor(
    client: UpstreamClient,
    private readonly calls: AskableCalls,
  ) {
    client.fallbackRequestHandler = (request, { requestId, signal }) =>
      this.handle(request, requestId, signal);
    client.onTakenBack((requestId) => this.open.get(requestId)?.abort());
  }

  addTask(taskId: string, listener: QuestionListener): void {
    this.byTask.set(taskId, listener);
  }

  removeTask(taskId: string): void {
    this.byTask.delete(taskId);
  }

  private async handle(
    { method, params = {} }: Asked,
    requestId: RequestId,
    signal: AbortSignal,
  ): Promise<object> {
    if (method !== 'elicitation/create')
      throw new McpError(ErrorCode.MethodNotFound, `This client does not offer ${method}`);
    const question = toQuestion(params);
    const listener = this.listenerFor(params);
    const withdrawal = new AbortController();
    this.open.set(requestId, withdrawal);
    try {
      const { signal: withdrawn } = withdrawal;
      return await answerOrAbort(listener({ ...question, withdrawn }), signal);
    } finally {
      this.open.delete(requestId);
    }
  }

  private listenerFor({ _meta }: NonNullable<Asked['params']>): QuestionListener {
    const taskId = (_meta?.[RELATED_TASK] as { taskId?: unknown } | undefined)?.taskId;
    const named = taskId === undefined ? this.calls.onStream() : this.byTask.get(taskId as string);
    return named ?? this.onlyCall();
  }

  private onlyCall(): QuestionListener {
    const running = [...this.byTask.values(), ...this.calls.running()];
    const [only] = running;
    if (this.calls.isShared || only === undefined)
      throw new McpError(ErrorCode.MethodNotFound, 'Nobody is there to be asked');
    if (running.length > 1) throw new McpError(ErrorCode.InvalidRequest, SEVERAL);
    return only;
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

/** Of a question that was taken back, or whose connection is gone, the answer is not waited for. */
function answerOrAbort(answer: Promise<QuestionAnswer>, signal: AbortSignal): Promise<object> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('Nobody waits for the answer')));
  });
  return Promise.race([answer, aborted]);
}
