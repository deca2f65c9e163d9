import type { SealedText } from '../../secrets/secret-box.js';
import type { HttpMcpServer, McpServer, SecretField, StdioMcpServer } from '../mcp-server.js';

/** What an administrator says about a server. */
export type McpServerFields = Omit<HttpMcpServer, 'id'> | Omit<StdioMcpServer, 'id'>;

/** A registration with what its row says besides. */
export type McpServerRow = McpServer & {
  /** Counts the changes of what a connection is made from. */
  revision: number;
  createdAt: Date;
  updatedAt: Date;
};

/** By name; a string is plain, of a row from before secrets were sealed. */
export type StoredSecrets = Record<string, SealedText | string>;

export type StoredServerSecrets = Record<SecretField, StoredSecrets>;

/** The columns as they are: those that do not fit the transport are null or empty. */
export interface McpServerColumns {
  id: string;
  name: string;
  title: string;
  enabled: boolean;
  sharing: McpServer['sharing'];
  transport: McpServer['transport'];
  url: string | null;
  headers: StoredSecrets;
  command: string | null;
  args: string[];
  env: StoredSecrets;
  revision: number;
  createdAt: Date;
  updatedAt: Date;
}

export const MCP_SERVER_COLUMNS = `mcp_servers.id, mcp_servers.name, mcp_servers.title,
  mcp_servers.transport, mcp_servers.url, mcp_servers.headers, mcp_servers.command, mcp_servers.args,
  mcp_servers.env, mcp_servers.enabled, mcp_servers.sharing, mcp_servers.revision,
  mcp_servers.created_at AS "createdAt", mcp_servers.updated_at AS "updatedAt"`;
