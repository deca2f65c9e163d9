import type { SealedText } from '../secrets/secret-box.js';

export const TRANSPORTS = ['http', 'sse', 'stdio'] as const;
/** `http`: Streamable HTTP; `sse`: the older HTTP with SSE; `stdio`: a program that is started here. */
export type Transport = (typeof TRANSPORTS)[number];

export const SHARINGS = ['shared', 'session', 'call'] as const;
/** Who uses one connection: all calls, those of one session of an app (or of one bot), or one call. */
export type Sharing = (typeof SHARINGS)[number];

/** A header or variable whose sealed value could not be opened: the server can't be connected to. */
export interface UnopenedSecret {
  field: SecretField;
  name: string;
  why: string;
  /** As it is stored, and stays until another value is given. */
  stored: SealedText;
}

export type SecretField = 'headers' | 'env';

interface McpServerCommon {
  /** uuid */
  id: string;
  /** What a tool call names it by. */
  name: string;
  /** What people and models read. */
  title: string;
  /** A disabled server takes no calls. */
  enabled: boolean;
  sharing: Sharing;
  /** Left out: none. */
  unopened?: readonly UnopenedSecret[];
}

export interface HttpMcpServer extends McpServerCommon {
  transport: 'http' | 'sse';
  url: string;
  /** Sent with each request; they hold secrets and are never shown. */
  headers: Record<string, string>;
}

export interface StdioMcpServer extends McpServerCommon {
  transport: 'stdio';
  command: string;
  args: string[];
  /** Added to the little that the program inherits; they hold secrets and are never shown. */
  env: Record<string, string>;
}

/** An external MCP server as an administrator registered it. */
export type McpServer = HttpMcpServer | StdioMcpServer;

/** Equal for servers that can share a connection: everything that a connection is made from. */
export function connectionKey(server: McpServer): string {
  const { id, transport, sharing, unopened = [] } = server;
  const missing = unopened.map(({ name, stored }) => [name, stored]);
  const common = [id, transport, sharing, missing];
  return transport === 'stdio'
    ? JSON.stringify([...common, server.command, server.args, sorted(server.env)])
    : JSON.stringify([...common, server.url, sorted(server.headers)]);
}

function sorted(map: Record<string, string>): [string, string][] {
  return Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
}
