/**
 * A real MCP server over stdio that keeps a journal: stdio-server.mjs <journal file> [how it starts].
 * It starts `well`, or it `fails`, `fails-with:<file>` while the file exists, `hangs`, or is `stubborn`: neither
 * the end of its input nor SIGTERM ends it.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const [journal, start = 'well', ...more] = process.argv.slice(2);
const note = (entry) => appendFileSync(journal, `${JSON.stringify(entry)}\n`);
const text = (words) => ({ content: [{ type: 'text', text: words }] });

note({ event: 'start', pid: process.pid, more });

const FOREVER = "process.on('SIGTERM', () => 0); setInterval(() => 0, 1000)";
const TALKING = `${FOREVER}; setInterval(() => process.stdout.write('still here\\n'), 20)`;

const tools = {
  echo: (args) => ({ ...text(JSON.stringify(args)), structuredContent: args }),
  slow: async ({ ms = 100, steps = 1 }, { progress }) => {
    for (let step = 1; step <= steps; step++) {
      await sleep(ms / steps);
      await progress(step, steps);
    }
    return text(`done after ${ms} ms`);
  },
  /** Goes on until the file is there, and does not care about being cancelled. */
  until: async ({ file }) => {
    while (!existsSync(file)) await sleep(10);
    return text('the file is there');
  },
  /** Tells that it has begun, and nothing more. */
  never: async (_args, { progress }) => {
    await progress(0, 1);
    return new Promise(() => undefined);
  },
  capabilities: (_args, { capabilities }) => ({ content: [], structuredContent: capabilities }),
  /** Answers with what the client answers, or refuses with. */
  ask: async ({ method = 'elicitation/create', params, timeout }, { ask }) => {
    try {
      return { content: [], structuredContent: await ask(method, params, timeout) };
    } catch (error) {
      return { ...text(error.message), isError: true };
    }
  },
  /** Asks, and does not wait for what is answered. */
  leave: ({ params }, { ask }) => {
    ask('elicitation/create', params).catch(() => undefined);
    return text('never mind');
  },
  env: () => text(JSON.stringify(process.env)),
  big: ({ bytes }) => text('x'.repeat(bytes)),
  exit: ({ code, say }) => {
    process.stderr.write(`${say}\n`, () => process.exit(code));
    return new Promise(() => undefined);
  },
  throw: ({ message }) => {
    setTimeout(() => {
      throw new Error(message);
    });
    return new Promise(() => undefined);
  },
  /** Starts a program in its own group that ends by SIGKILL only and keeps the pipes open. */
  child: ({ isTalking = false }) => {
    const program = isTalking ? TALKING : FOREVER;
    const child = spawn(process.execPath, ['-e', program], { stdio: 'inherit' });
    return text(String(child.pid));
  },
  noise: ({ lines }) => {
    for (const line of lines) process.stdout.write(`${line}\n`);
    return text('not a word of that was meant');
  },
  flood: async ({ bytes }) => {
    const line = 'y'.repeat(99);
    for (let sent = 0; sent < bytes; sent += 100)
      if (!process.stderr.write(`${line}\n`))
        await new Promise((resolve) => process.stderr.once('drain', resolve));
    return text('said it all');
  },
  /** Answers with these bytes; `ID` in them is the id of the request. */
  raw: ({ line }, { requestId }) => {
    process.stdout.write(`${line.replace('ID', requestId)}\n`);
    return new Promise(() => undefined);
  },
  /** Sends so many notifications of this method in one write, the last ones together with its answer; may end then. */
  rush: (
    { times, method = 'notifications/progress', ends = false },
    { requestId: progressToken },
  ) => {
    const notice = (progress) => ({
      ...{ jsonrpc: '2.0', method },
      ...(method === 'notifications/progress' && { params: { progressToken, progress } }),
    });
    const answer = { jsonrpc: '2.0', id: progressToken, result: text(`${times} sent`) };
    const messages = [...Array.from({ length: times }, (_, n) => notice(n + 1)), answer];
    const lines = messages.map((message) => `${JSON.stringify(message)}\n`);
    process.stdout.write(lines.join(''), () => ends && process.exit(0));
    return new Promise(() => undefined);
  },
  /** Answers with a text of this length, its id first; without an end it falls silent after that. */
  long: ({ bytes, end = true }, { requestId }) => {
    const head = `{"jsonrpc":"2.0","id":${requestId},"result":{"content":[{"type":"text","text":"`;
    process.stdout.write(`${head}${'x'.repeat(bytes)}${end ? '"}]}}\n' : ''}`);
    return new Promise(() => undefined);
  },
  /** Reads nothing from now on. */
  deafen: () => {
    process.stdin.destroy();
    setTimeout(() => closeSync(0), 20);
    setInterval(() => undefined, 1_000);
    return text('what?');
  },
};

if (start === 'fails' || (start.startsWith('fails-with:') && existsSync(start.slice(11)))) {
  process.stdout.write('Usage: none\n');
  process.stderr.write('starting …\n\u001b[31mError: no licence\u001b[0m\n    at start (x.js:1)\n');
  process.exitCode = 3;
} else if (start === 'hangs') {
  process.stderr.write('waiting for the licence server\n');
  setInterval(() => undefined, 1_000);
} else {
  if (start === 'stubborn') {
    process.on('SIGTERM', () => note({ event: 'SIGTERM' }));
    setInterval(() => undefined, 1_000);
  }
  await serve();
}

async function serve() {
  const server = new Server(
    { name: 'stdio-test', version: '7' },
    { capabilities: { tools: {} }, instructions: 'Use echo.' },
  );
  server.fallbackRequestHandler = async ({ method, params = {} }, extra) => {
    extra.signal.addEventListener('abort', () => note({ event: 'aborted', id: extra.requestId }));
    if (method === 'tools/list')
      return {
        tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })),
      };
    const progress = (done, total) =>
      extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken: params._meta.progressToken, progress: done, total },
      });
    return tools[params.name](params.arguments, {
      progress,
      requestId: extra.requestId,
      ask: (asked, what, timeout = 60_000) =>
        extra.sendRequest({ method: asked, params: what }, z.looseObject({}), { timeout }),
      capabilities: server.getClientCapabilities(),
    });
  };
  const transport = new StdioServerTransport();
  await server.connect(transport);
  const { onmessage } = transport;
  transport.onmessage = (message) => {
    note({ event: 'message', message });
    onmessage(message);
  };
}
