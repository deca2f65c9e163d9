import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { ignore } from '../../common/ignore.js';
import { within } from '../../common/within.js';
import type { ToolRequest, UpstreamListener } from '../upstream-call.js';
import {
  type QuestionListener,
  type SessionCall,
  type SessionPlace,
  type StreamReference,
  type ToolPage,
  type UpstreamAbout,
  UpstreamSession,
} from '../upstream-session.js';
import { connectionLostText } from './sdk-failure.js';
import type { SdkLink } from './sdk-link.js';
import { currentScope } from './http/request-scope.js';
import { type RequestParts, SdkRequest, type SdkRequestParts } from './sdk-request.js';
import { SdkTasks } from './sdk-tasks.js';
import { SessionQuestions } from './session-questions.js';
import type { UpstreamClient } from './upstream-client.js';
import { toToolCallParams } from './tool-call-params.js';
import { toToolPage } from './tool-page.js';

const LIST_MS = 15_000;
const FORGET_MS = 1_000;
const CLOSED_HERE = 'This service closed the connection.';

interface SessionNature {
  /** Calls of different sessions or bots use it. */
  isShared: boolean;
  /** Another process began it: what the upstream can is not known, but it has been used. */
  isForeign: boolean;
}

/** A session by the MCP SDK of the 1.x line (protocol 2025-11-25 and older), over any transport. */
export class SdkSession extends UpstreamSession {
  readonly about: UpstreamAbout;
  readonly closed: Promise<void>;
  readonly tasks: SdkTasks | undefined;
  private readonly requests = new Set<SdkRequest>();
  private isClosed = false;

  constructor(
    private readonly client: UpstreamClient,
    private readonly link: SdkLink,
    nature: SessionNature,
  ) {
    super();
    this.about = aboutOf(client, link);
    const questions = new SessionQuestions(client, {
      isShared: nature.isShared,
      onStream: () => this.questionsOnStream(),
      running: () => [...this.requests].flatMap((request) => request.questions ?? []),
    });
    const runsTasks = client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined;
    if (runsTasks || nature.isForeign)
      this.tasks = new SdkTasks(
        client,
        (parts) => this.request(parts),
        questions,
        () => this.isClosed,
      );
    this.closed = new Promise((resolve) => {
      client.onclose = () => {
        this.end();
        resolve();
      };
      // It may have closed between its initialisation and here.
      if (client.transport === undefined) client.onclose();
    });
  }

  call(request: ToolRequest, listener: UpstreamListener): SessionCall {
    const { traceparent, maxResultBytes } = request;
    const parts = { params: toToolCallParams(request), traceparent, maxResultBytes };
    return this.request({ method: 'tools/call', ...parts, ...partsOf(listener) });
  }

  resume(
    { lastEventId }: StreamReference,
    maxResultBytes: number,
    listener: UpstreamListener,
  ): SessionCall {
    const resumed = { params: {}, resumptionToken: lastEventId, maxResultBytes };
    return this.request({ method: 'tools/call', ...resumed, ...partsOf(listener) });
  }

  async listTools(cursor: string | undefined): Promise<ToolPage> {
    const request = this.request({
      method: 'tools/list',
      params: cursor === undefined ? {} : { cursor },
    });
    const limit = setTimeout(() => void request.cancel(`no answer in ${LIST_MS} ms`), LIST_MS);
    try {
      return toToolPage(await request.answer);
    } finally {
      clearTimeout(limit);
    }
  }

  get place(): SessionPlace | undefined {
    return this.link.place;
  }

  onToolsChanged(listener: () => void): void {
    this.client.setNotificationHandler(ToolListChangedNotificationSchema, listener);
  }

  async close({ forget }: { forget: boolean }): Promise<void> {
    this.end();
    if (forget) await within(FORGET_MS, this.link.forget().catch(ignore));
    await this.link.transport.close().catch(ignore);
  }

  /** Whose question it is that is handled now, where it came on the stream of a call. */
  private questionsOnStream(): QuestionListener | undefined {
    const scope = currentScope();
    if (scope === undefined) return undefined;
    for (const request of this.requests) {
      const listener = request.questionsOn(scope);
      if (listener !== undefined) return listener;
    }
    return undefined;
  }

  private end(): void {
    this.isClosed = true;
    this.abandonAll();
    this.tasks?.closed();
  }

  private abandonAll(): void {
    const { brokenBecause } = this.link;
    const why = brokenBecause === undefined ? CLOSED_HERE : connectionLostText(brokenBecause);
    for (const request of this.requests) request.abandon(why);
  }

  private request(parts: RequestParts): SdkRequest {
    const { client, link } = this;
    const silent = { onProgress: ignore, onReference: ignore };
    const request = new SdkRequest({ client, link, ...silent, ...parts });
    this.requests.add(request);
    void request.answer.catch(ignore).finally(() => this.requests.delete(request));
    return request;
  }
}

function partsOf(
  listener: UpstreamListener,
): Pick<SdkRequestParts, 'onProgress' | 'onReference' | 'onQuestion'> {
  return {
    onProgress: (progress) => listener.onProgress(progress),
    onReference: (reference) => listener.onReference(reference),
    onQuestion: (question) => listener.onQuestion(question),
  };
}

function aboutOf(client: UpstreamClient, { protocolVersion = '' }: SdkLink): UpstreamAbout {
  const { name = '', version = '' } = client.getServerVersion() ?? {};
  return { name, version, protocolVersion, instructions: client.getInstructions() };
}
