import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { McpTestServer } from './mcp-server.js';
import { TestTasks } from './test-tasks.js';

/** Work of an MCP server that another process can go on with, and what the server sees of it. */
export interface LongWork {
  upstream: McpTestServer;
  tool: string;
  arguments: Record<string, unknown>;
  /** How often it was begun. */
  begun(): number;
  /** Ends it with this text. */
  end(text: string): Promise<void>;
  /** Whether anybody told the server to stop it. */
  wasStopped(): boolean;
}

export const LONG_WORKS: [string, () => Promise<LongWork>][] = [
  ['a task', startTask],
  ['a stream with event ids', startStream],
];

export async function startTask(): Promise<LongWork & { tasks: TestTasks }> {
  const tasks = new TestTasks();
  const upstream = await McpTestServer.start({ tasks });
  return {
    upstream,
    tasks,
    tool: 'research',
    arguments: {},
    begun: () => tasks.begun.length,
    end: (text) => tasks.end('completed', { content: [{ type: 'text', text }] }),
    wasStopped: () => hasStopped(upstream, 'tasks/cancel'),
  };
}

async function startStream(): Promise<LongWork> {
  const upstream = await McpTestServer.start({ eventStore: new InMemoryEventStore() });
  return {
    upstream,
    tool: 'gate',
    arguments: { name: 'long' },
    begun: () => upstream.calls.length,
    end: (text) => {
      upstream.release('long', { content: [{ type: 'text', text }] });
      return Promise.resolve();
    },
    wasStopped: () => hasStopped(upstream, 'notifications/cancelled'),
  };
}

function hasStopped({ methods, deletes, aborted }: McpTestServer, method: string): boolean {
  return methods.includes(method) || deletes > 0 || aborted.length > 0;
}
