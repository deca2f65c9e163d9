import { connectionKey, type McpServer, type Sharing } from '../mcp-server.js';

/** Which connection is used for something. */
export interface ConnectionScope {
  use: Sharing;
  /** Of the server as it is configured. */
  serverKey: string;
  /** Equal for those that use one connection. */
  key: string;
}

/** What many calls share, and what this service itself asks on. */
export function sharedScope(server: McpServer): ConnectionScope {
  const serverKey = connectionKey(server);
  return { use: 'shared', serverKey, key: serverKey };
}

/** What a call of this initiator uses; `callNumber` is another one for each call. */
export function callScope(
  server: McpServer,
  initiator: string,
  callNumber: number,
): ConnectionScope {
  const shared = sharedScope(server);
  const { serverKey } = shared;
  switch (server.sharing) {
    case 'shared':
      return shared;
    case 'session':
      return { use: 'session', serverKey, key: `${initiator} ${serverKey}` };
    case 'call':
      return { use: 'call', serverKey, key: `${callNumber} ${serverKey}` };
  }
}
