import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  ElicitResultSchema,
  EmptyResultSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { ToolContext } from './mcp-tools.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** What a tool may ask of its client while it runs. */
export function requestsToClient(
  server: Server,
  extra: Extra,
): Pick<ToolContext, 'ask' | 'request' | 'clientCapabilities' | 'ping'> {
  return {
    ask: (message, requestedSchema) => {
      const params = { message, requestedSchema } as ServerRequest['params'];
      const question = { method: 'elicitation/create', params } as ServerRequest;
      return extra.sendRequest(question, ElicitResultSchema);
    },
    request: (asked, params, timeout = 60_000) =>
      extra.sendRequest({ method: asked, params } as ServerRequest, z.looseObject({}), { timeout }),
    clientCapabilities: { ...server.getClientCapabilities() },
    ping: async () => void (await extra.sendRequest({ method: 'ping' }, EmptyResultSchema)),
  };
}
