import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type {
  CallToolResult,
  ServerNotification,
  ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const SECONDS = z.number().min(0).max(86_400);
const KILOBYTES = z.number().int().min(1).max(65_536);
const LINE = 'The quick brown fox jumps over the lazy dog, again and again. 01\n';

/** An MCP server with tools that take their time; all of them stop when they are cancelled. */
export function createDemoMcpServer(): McpServer {
  const server = new McpServer({ name: 'demo', version: '1.0.0' });
  server.registerTool(
    'export_report',
    {
      description: 'Writes a report, which takes a while; tells its progress every second.',
      inputSchema: { seconds: SECONDS },
    },
    async ({ seconds }, extra) => {
      await work(seconds, extra);
      return text(`Report written in ${seconds} s: 3 sheets, 1,284 rows, total 42,617.50.`);
    },
  );
  server.registerTool(
    'fail_after',
    { description: 'Works for a while and then fails.', inputSchema: { seconds: SECONDS } },
    async ({ seconds }, extra) => {
      await work(seconds, extra);
      return { ...text(`Failed after ${seconds} s: the disk of the demo is full.`), isError: true };
    },
  );
  server.registerTool(
    'big_result',
    { description: 'Answers with much text.', inputSchema: { kilobytes: KILOBYTES } },
    ({ kilobytes }) => text(LINE.repeat(kilobytes * 16).slice(0, kilobytes * 1_024)),
  );
  server.registerTool(
    'echo',
    { description: 'Answers at once with the same text.', inputSchema: { text: z.string() } },
    (args) => text(args.text),
  );
  return server;
}

/** Waits, with a notification of progress after each second. */
async function work(seconds: number, { signal, sendNotification, _meta }: Extra): Promise<void> {
  for (let done = 0; done < seconds;) {
    const step = Math.min(1, seconds - done);
    await sleep(step * 1_000, undefined, { signal });
    done += step;
    if (_meta?.progressToken === undefined) continue;
    await sendNotification({
      method: 'notifications/progress',
      params: {
        progressToken: _meta.progressToken,
        progress: done,
        total: seconds,
        message: `${Math.round((100 * done) / seconds)} % written`,
      },
    });
  }
}

function text(content: string): CallToolResult {
  return { content: [{ type: 'text', text: content }] };
}
