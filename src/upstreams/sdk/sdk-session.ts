import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { within } from '../../common/within.js';
import type { OutboundHttp } from '../../outbound/outbound-http.js';
import type { ProgressListener, ToolRequest } from '../upstream-call.js';
import { type SessionCall, type ToolPage, UpstreamSession } from '../upstream-session.js';
import { SdkRequest, type SdkRequestParts } from './sdk-request.js';
import { toToolPage } from './tool-page.js';

const LIST_MS = 15_000;
const FORGET_MS = 1_000;

/** A session over Streamable HTTP by the MCP SDK of the 1.x line (protocol 2025-11-25 and older). */
export class SdkSession extends UpstreamSession {
  private readonly requests = new Set<SdkRequest>();

  constructor(
    private readonly client: Client,
    private readonly transport: StreamableHTTPClientTransport,
    private readonly http: OutboundHttp,
  ) {
    super();
  }

  call(request: ToolRequest, onProgress: ProgressListener): SessionCall {
    const params = { name: request.tool, arguments: request.arguments };
    return this.request('tools/call', params, onProgress);
  }

  async listTools(cursor: string | undefined): Promise<ToolPage> {
    const request = this.request('tools/list', cursor === undefined ? {} : { cursor }, ignore);
    const limit = setTimeout(() => void request.cancel(`no answer in ${LIST_MS} ms`), LIST_MS);
    try {
      return toToolPage(await request.answer);
    } finally {
      clearTimeout(limit);
    }
  }

  async close({ forget }: { forget: boolean }): Promise<void> {
    for (const request of this.requests) request.abandon('This service closed the connection.');
    if (forget) {
      const forgotten = this.transport.terminateSession().catch(ignore);
      await within(FORGET_MS, forgotten);
    }
    await this.client.close().catch(ignore);
  }

  private request(
    method: SdkRequestParts['method'],
    params: Record<string, unknown>,
    onProgress: ProgressListener,
  ): SdkRequest {
    const { client, http } = this;
    const hasSession = this.transport.sessionId !== undefined;
    const request = new SdkRequest({ client, http, hasSession, method, params, onProgress });
    this.requests.add(request);
    void request.answer.catch(ignore).finally(() => this.requests.delete(request));
    return request;
  }
}

function ignore(): void {}
