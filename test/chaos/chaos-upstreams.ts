import { setTimeout as sleep } from 'node:timers/promises';
import { OrderedEventStore } from './ordered-event-store.js';
import { McpTestServer } from '../support/mcp-server.js';
import { type Json, textResult, type ToolHandler } from '../support/mcp-tools.js';
import { TestTasks } from '../support/test-tasks.js';

const LONG = 'x'.repeat(9_000);

/** `work {name, ms, outcome}`: says its name when the time is over. */
const work: ToolHandler = async ({ name, ms = 0, outcome = 'text' }, context) => {
  await context.progress(0.5, 1, 'half');
  await sleep(Number(ms), undefined, { signal: context.signal });
  if (outcome === 'error') return { ...textResult(`${String(name)} failed`), isError: true };
  return textResult(outcome === 'long' ? `${String(name)} ${LONG}` : `${String(name)} done`);
};

/** `inquire {name}`: asks the user, and says its name. */
const inquire: ToolHandler = async ({ name }, { ask }) => {
  const answer = await ask('Go on?', { type: 'object', properties: {} });
  return textResult(`${String(name)}: ${String(answer.action)}`);
};

/** Each task ends by itself after the `ms` of its call, or when everything is let go. */
class TimedTasks extends TestTasks {
  private readonly waiting = new Set<() => void>();
  private isHeld = false;

  override async begin(...[params, extra]: Parameters<TestTasks['begin']>): Promise<Json> {
    const begun = (await super.begin(params, extra)) as { task: { taskId: string } };
    const { name, ms } = params.arguments as { name: string; ms: number };
    void this.endLater(begun.task.taskId, name, ms);
    return begun;
  }

  /** From now on tasks wait for `letGo`. */
  hold(): void {
    this.isHeld = true;
  }

  letGo(): void {
    this.isHeld = false;
    for (const goOn of this.waiting) goOn();
    this.waiting.clear();
  }

  private async endLater(taskId: string, name: string, ms: number): Promise<void> {
    if (this.isHeld) await new Promise<void>((goOn) => this.waiting.add(goOn));
    await sleep(ms);
    const task = await this.store.getTask(taskId);
    if (task?.status !== 'working') return;
    const content = [{ type: 'text' as const, text: `${name} done` }];
    await this.store.storeTaskResult(taskId, 'completed', { content });
  }
}

/** The MCP servers of a run: one whose calls end with their connection, one whose calls outlive it. */
export class ChaosUpstreams {
  private constructor(
    private readonly plain: McpTestServer,
    private readonly lasting: McpTestServer,
    readonly tasks: TimedTasks,
  ) {}

  static async start(): Promise<ChaosUpstreams> {
    const tasks = new TimedTasks({ pollInterval: 200 });
    const plain = await McpTestServer.start({ tools: { work, inquire } });
    const lasting = await McpTestServer.start({
      tools: { work },
      tasks,
      eventStore: new OrderedEventStore(),
    });
    return new ChaosUpstreams(plain, lasting, tasks);
  }

  /** What to register. */
  get servers(): { name: string; title: string; url: string; sharing?: string }[] {
    const { plain, lasting } = this;
    return [
      { name: 'plain', title: 'Plain', url: plain.url },
      { name: 'lasting', title: 'Lasting', url: lasting.url },
      { name: 'asking', title: 'Asking', url: plain.url, sharing: 'call' },
    ];
  }

  /** How often each call came over the wire, by its name. */
  get executions(): Map<string, number> {
    const times = new Map<string, number>();
    for (const { arguments: args } of [...this.plain.calls, ...this.lasting.calls]) {
      const name = String(args.name);
      times.set(name, (times.get(name) ?? 0) + 1);
    }
    return times;
  }

  /** Calls whose answer is still awaited on a connection. */
  get openCalls(): number {
    return this.plain.openStreams('tools/call') + this.lasting.openStreams('tools/call');
  }

  async stop(): Promise<void> {
    await Promise.all([this.plain.stop(), this.lasting.stop()]);
  }
}
