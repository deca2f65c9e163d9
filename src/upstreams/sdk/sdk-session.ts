import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { within } from '../../common/within.js';
import type { ToolRequest, UpstreamListener, UpstreamProgress } from '../upstream-call.js';
import {
  type SessionCall,
  type ToolPage,
  type UpstreamAbout,
  UpstreamSession,
} from '../upstream-session.js';
import type { SdkLink } from './sdk-link.js';
import { SdkRequest, type SdkRequestParts } from './sdk-request.js';
import { toToolPage } from './tool-page.js';

const LIST_MS = 15_000;
const FORGET_MS = 1_000;
const CLOSED_HERE = 'This service closed the connection.';

/** A session by the MCP SDK of the 1.x line (protocol 2025-11-25 and older), over any transport. */
export class SdkSession extends UpstreamSession {
  readonly about: UpstreamAbout;
  readonly closed: Promise<void>;
  readonly runsTasks: boolean;
  private readonly requests = new Set<SdkRequest>();

  constructor(
    private readonly client: Client,
    private readonly link: SdkLink,
  ) {
    super();
    this.about = aboutOf(client, link);
    this.runsTasks = client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined;
    this.closed = new Promise((resolve) => {
      client.onclose = () => {
        this.abandonAll();
        resolve();
      };
      // It may have closed between its initialisation and here.
      if (client.transport === undefined) resolve();
    });
  }

  call(request: ToolRequest, listener: UpstreamListener): SessionCall {
    const params = { name: request.tool, arguments: request.arguments };
    return this.request('tools/call', params, (progress) => listener.onProgress(progress));
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

  onToolsChanged(listener: () => void): void {
    this.client.setNotificationHandler(ToolListChangedNotificationSchema, listener);
  }

  async close({ forget }: { forget: boolean }): Promise<void> {
    this.abandonAll();
    if (forget) await within(FORGET_MS, this.link.forget().catch(ignore));
    await this.link.transport.close().catch(ignore);
  }

  private abandonAll(): void {
    const { brokenBecause } = this.link;
    const why =
      brokenBecause === undefined
        ? CLOSED_HERE
        : `The connection to the upstream was lost: ${brokenBecause}`;
    for (const request of this.requests) request.abandon(why);
  }

  private request(
    method: SdkRequestParts['method'],
    params: Record<string, unknown>,
    onProgress: (progress: UpstreamProgress) => void,
  ): SdkRequest {
    const { client, link } = this;
    const request = new SdkRequest({ client, link, method, params, onProgress });
    this.requests.add(request);
    void request.answer.catch(ignore).finally(() => this.requests.delete(request));
    return request;
  }
}

function aboutOf(client: Client, { protocolVersion = '' }: SdkLink): UpstreamAbout {
  const { name = '', version = '' } = client.getServerVersion() ?? {};
  return { name, version, protocolVersion, instructions: client.getInstructions() };
}

function ignore(): void {}
