import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore,
} from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type CallToolResult,
  type ElicitResult,
  ElicitResultSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import type { Json } from './mcp-tools.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export interface TestTasksOptions {
  /** In place of the ttl that was asked for; null: for ever. */
  ttl?: number | null;
  pollInterval?: number;
}

/** What a test server runs as MCP tasks: each goes on until the test says what comes of it. */
export class TestTasks {
  readonly store = new InMemoryTaskStore();
  readonly queue = new InMemoryTaskMessageQueue();
  /** The ttl that was asked for, by call; its length says how often work was begun. */
  readonly begun: (number | undefined)[] = [];
  /** Tasks that were cancelled from outside. */
  readonly capabilities = { tasks: { cancel: {}, requests: { tools: { call: {} } } } };
  /** By tool: `required` can't be called otherwise. */
  readonly support: Record<string, string> = { research: 'required', flexible: 'optional' };
  latest = '';
  private extra: Extra | undefined;

  constructor(private readonly options: TestTasksOptions = {}) {}

  get tools(): Json[] {
    return Object.entries(this.support).map(([name, taskSupport]) => ({
      name,
      inputSchema: { type: 'object' },
      execution: { taskSupport },
    }));
  }

  async begin(params: Json, extra: Extra): Promise<Json> {
    const asked = (params.task as { ttl?: number }).ttl;
    const { ttl = asked, pollInterval = 50 } = this.options;
    const request = { method: 'tools/call', params };
    const wish = { ttl, pollInterval };
    const task = await this.store.createTask(wish, extra.requestId, request, extra.sessionId);
    this.latest = task.taskId;
    this.extra = extra;
    this.begun.push(asked);
    return { task: { ...task } };
  }

  async status(): Promise<string | undefined> {
    return (await this.store.getTask(this.latest))?.status;
  }

  async say(message: string): Promise<void> {
    await this.store.updateTaskStatus(this.latest, 'working', message);
  }

  /** Ends the task, and keeps this as its result. */
  async end(status: 'completed' | 'failed', result: CallToolResult): Promise<void> {
    await this.store.storeTaskResult(this.latest, status, result);
  }

  /** Ends the task without a result. */
  async stop(status: 'failed' | 'cancelled', message: string): Promise<void> {
    await this.store.updateTaskStatus(this.latest, status, message);
  }

  /** Asks the user; resolves with the answer, or gives up after the time-out in milliseconds. */
  async ask(message: string, requestedSchema: Json, timeout = 20_000): Promise<ElicitResult> {
    const params = { message, requestedSchema } as ServerRequest['params'];
    const request = { method: 'elicitation/create', params } as ServerRequest;
    const related = { relatedTask: { taskId: this.latest }, timeout };
    const answer = await this.extra?.sendRequest(request, ElicitResultSchema, related);
    await this.store.updateTaskStatus(this.latest, 'working', 'answered');
    return answer as ElicitResult;
  }

  /** Forgets every task. */
  vanish(): void {
    this.store.cleanup();
  }
}
