import type { HttpMcpServer, McpServer, StdioMcpServer } from './mcp-server.js';

/** What an administrator says about a server. */
export type McpServerFields = Omit<HttpMcpServer, 'id'> | Omit<StdioMcpServer, 'id'>;

/** A registration with what its row says besides. */
export type McpServerRow = McpServer & {
  /** Counts the changes of what a connection is made from. */
  revision: number;
  createdAt: Date;
  updatedAt: Date;
};

/** The columns as they are: those that do not fit the transport are null or empty. */
export interface McpServerColumns {
  id: string;
  name: string;
  title: string;
  enabled: boolean;
  transport: McpServer['transport'];
  url: string | null;
  headers: Record<string, string>;
  command: string | null;
  args: string[];
  env: Record<string, string>;
  revision: number;
  createdAt: Date;
  updatedAt: Date;
}

export const MCP_SERVER_COLUMNS = `mcp_servers.id, mcp_servers.name, mcp_servers.title,
  mcp_servers.transport, mcp_servers.url, mcp_servers.headers, mcp_servers.command, mcp_servers.args,
  mcp_servers.env, mcp_servers.enabled, mcp_servers.revision,
  mcp_servers.created_at AS "createdAt", mcp_servers.updated_at AS "updatedAt"`;

/** The constraint `mcp_servers_fields_fit` makes what a transport needs be there. */
export function toMcpServerRow(columns: McpServerColumns): McpServerRow {
  const { transport, url, headers, command, args, env, ...rest } = columns;
  return transport === 'stdio'
    ? { ...rest, transport, command: command as string, args, env }
    : { ...rest, transport, url: url as string, headers };
}

/** In the order name, title, enabled, transport, url, headers, command, args, env. */
export function toColumnValues(fields: McpServerFields): unknown[] {
  const { name, title, enabled, transport } = fields;
  const connection =
    fields.transport === 'stdio'
      ? [null, '{}', fields.command, JSON.stringify(fields.args), JSON.stringify(fields.env)]
      : [fields.url, JSON.stringify(fields.headers), null, '[]', '{}'];
  return [name, title, enabled, transport, ...connection];
}
