/**
 * MCP servers of each kind on all addresses of this network. Prints lines of JSON: the port of each, and
 * from then on how many calls they have got in all, whenever that has changed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { McpTestServer } from '../support/mcp-server.js';
import { SseTestServer } from '../support/sse-server.js';

const host = '0.0.0.0';
const streaming = await McpTestServer.start({ host });
const json = await McpTestServer.start({ host, jsonMode: true });
const sse = await SseTestServer.start({ host });
const ports = { streaming: streaming.port, json: json.port, sse: sse.port };
say(ports);

for (let said = 0; ; await sleep(20)) {
  const calls = streaming.calls.length + json.calls.length + sse.received('tools/call').length;
  if (calls !== said) say((said = calls));
}

function say(what: object | number): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
