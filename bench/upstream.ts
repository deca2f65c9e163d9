/** An MCP server as a process of its own. Prints its URL when it listens. */
import { setTimeout as sleep } from 'node:timers/promises';
import { McpTestServer } from '../test/support/mcp-server.js';
import { textResult, type ToolHandler } from '../test/support/mcp-tools.js';
import { machineMs } from './sample.js';

const waiting: (() => void)[] = [];

const tools: Record<string, ToolHandler> = {
  /** Answers after a while with the time at which it does. */
  stamp: async ({ ms = 0 }) => {
    await sleep(Number(ms));
    return textResult(String(machineMs()));
  },

  /** Waits until so many calls wait here, and then answers each with its name. */
  together: async ({ count, name }) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length >= Number(count)) for (const pass of waiting.splice(0)) pass();
    });
    return textResult(`answer of ${String(name)}`);
  },
};

const server = await McpTestServer.start({ tools });
setInterval(() => server.forgetCalls(), 1_000);
process.stdout.write(`${server.url}\n`);
