import { describe, expect, it } from '@jest/globals';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { JSONRPCMessageSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { UnknownStatusError } from '../../outbound/outbound-errors.js';
import { toCallFailure, toConnectFailure } from './sdk-failure.js';
import { SessionForgotten } from '../upstream-failure.js';

const fetchFailed = (cause: object): Error => new TypeError('fetch failed', { cause });
const system = (code: string, syscall?: string): Error =>
  Object.assign(new Error(`it said ${code}`), { code, syscall });
const http = (status: number, text: string): Error =>
  new StreamableHTTPError(status, `Error POSTing to endpoint: ${text}`);

describe('The failure of a call', () => {
  it.each([
    ['ECONNREFUSED', fetchFailed(system('ECONNREFUSED', 'connect'))],
    ['no such name', fetchFailed(system('ENOTFOUND', 'getaddrinfo'))],
    ['a connect time-out', fetchFailed(system('UND_ERR_CONNECT_TIMEOUT'))],
    ['a time-out of the system while connecting', fetchFailed(system('ETIMEDOUT', 'connect'))],
    ['every address refused', fetchFailed({ errors: [system('ECONNREFUSED', 'connect')] })],
    ['a certificate', fetchFailed(system('DEPTH_ZERO_SELF_SIGNED_CERT'))],
    ['HTTP 401', http(401, 'no')],
    ['HTTP 404 without a session', http(404, 'no')],
  ])('is upstream_unreachable when nothing was sent: %s', (_, error) => {
    expect(toCallFailure(error, false)).toMatchObject({
      code: 'upstream_unreachable',
      outcomeUnknown: false,
    });
  });

  it.each([
    ['a reset', fetchFailed(system('ECONNRESET', 'read'))],
    ['a closed socket', fetchFailed(system('UND_ERR_SOCKET'))],
    ['a time-out of the system on the connection', fetchFailed(system('ETIMEDOUT', 'read'))],
    ['HTTP 500', http(500, '')],
    ['HTTP 504', http(504, '')],
    ['anything else', new Error('?')],
  ])('is upstream_lost, outcome unknown, when it may have been received: %s', (_, error) => {
    expect(toCallFailure(error, true)).toMatchObject({
      code: 'upstream_lost',
      outcomeUnknown: true,
    });
  });

  it.each([
    ['404', http(404, 'Session not found')],
    ['400 that says session', http(400, 'Bad Request: No valid session ID provided')],
  ])('is a forgotten session: %s', (_, error) => {
    expect(toCallFailure(error, true)).toBeInstanceOf(SessionForgotten);
    expect(toCallFailure(error, false)).not.toBeInstanceOf(SessionForgotten);
  });

  it('is no forgotten session when a 400 is about something else', () => {
    expect(toCallFailure(http(400, 'bad arguments'), true)).not.toBeInstanceOf(SessionForgotten);
  });

  it('has the message of the upstream without what each hop put before it', () => {
    const twice = new McpError(-32602, 'MCP error -32602: Unknown tool: x');
    expect(toCallFailure(twice, true)).toMatchObject({
      code: 'upstream_error',
      message: 'Unknown tool: x',
      outcomeUnknown: false,
    });
  });

  it.each([
    [http(500, 'null'), 'HTTP 500'],
    [http(500, ''), 'HTTP 500'],
    [
      http(502, '<html>\n<head><title>502 Bad\nGateway</title>…'),
      'HTTP 502: a web page, "502 Bad Gateway"',
    ],
    [http(502, '<!DOCTYPE html><p>no'), 'HTTP 502: a web page'],
    [http(503, '{"error":null}'), 'HTTP 503: {"error":null}'],
    [http(503, '{"error":{"message":{"a":1}}}'), 'HTTP 503: {"error":{"message":{"a":1}}}'],
  ])('has what of the body can be read by people', (error, text) => {
    expect(toCallFailure(error, true).message).toBe(`The upstream failed: ${text}`);
  });

  it('has no content type where there is none', () => {
    const error = new StreamableHTTPError(-1, 'Unexpected content type: null');
    expect(toCallFailure(error, true).message).toBe('Unexpected content type: none');
  });

  it.each([600, 101])('names a status that is none of an answer: %i', (status) => {
    expect(toCallFailure(fetchFailed(new UnknownStatusError(status)), true)).toMatchObject({
      ...{ code: 'upstream_lost', outcomeUnknown: true },
      message: `The upstream failed: it answered with status ${status}, which is none of an answer`,
    });
  });

  it('says in one line what an answer lacks', () => {
    const { error } = JSONRPCMessageSchema.safeParse({ jsonrpc: '2.0', id: 1, result: 7 });
    expect(toCallFailure(error, true)).toMatchObject({
      ...{ code: 'upstream_error', outcomeUnknown: true },
      message: "The upstream's answer is not MCP: result: expected object, received number",
    });
  });

  it('has the JSON-RPC message that came with an HTTP status', () => {
    const body = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Not now"}}';
    expect(toCallFailure(http(429, body), true).message).toContain('HTTP 429: Not now');
  });
});

describe('The failure of connecting', () => {
  it.each([
    http(400, '{"jsonrpc":"2.0","id":0,"error":{"code":-32022,"message":"Unsupported"}}'),
    new McpError(-32022, 'Unsupported'),
  ])('says that the server speaks only a newer protocol', (error) => {
    expect(toConnectFailure(error).message).toContain('newer MCP protocol');
  });
});
