/** An external MCP server as an administrator registered it. */
export interface McpServer {
  /** uuid */
  id: string;
  /** What a tool call names it by. */
  name: string;
  /** What people and models read. */
  title: string;
  transport: 'http';
  url: string;
  /** Sent with each request; they hold secrets and are never shown. */
  headers: Record<string, string>;
  /** A disabled server takes no calls. */
  enabled: boolean;
}

/** Equal for servers that can share a connection. */
export function connectionKey(server: McpServer): string {
  const headers = Object.entries(server.headers).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([server.id, server.transport, server.url, headers]);
}
