import type { HttpMcpServer, McpServer, Sharing } from './mcp-server.js';
import type {
  QuestionAnswer,
  ToolRequest,
  ToolResult,
  UpstreamListener,
  UpstreamProgress,
  UpstreamQuestion,
  UpstreamReference,
} from './upstream-call.js';

/** A tool as the upstream tells it, unknown fields included. */
export type UpstreamTool = Record<string, unknown> & { name: string };

export interface ToolPage {
  /** Nothing of them was looked at. */
  tools: unknown[];
  nextCursor: string | undefined;
}

/** What an upstream told of itself when the session began. */
export interface UpstreamAbout {
  name: string;
  version: string;
  /** What the two sides agreed on. */
  protocolVersion: string;
  /** How a model shall use its tools, in the server's words. */
  instructions: string | undefined;
}

/** One `tools/call` on a session. */
export interface SessionCall {
  /** Rejects with UpstreamFailure. Settles only when nothing of the call is left open. */
  readonly answer: Promise<ToolResult>;
  /** Resolves when the upstream was told and the response stream is closed; never rejects. */
  cancel(reason: string): Promise<void>;
  /** Ends it as lost, at once and without a word to the upstream. */
  abandon(why: string): void;
}

/** Where a session lives, for another process that goes on in it. */
export interface SessionPlace {
  url: string;
  sessionId: string | null;
  protocolVersion: string;
}

export type StreamReference = Extract<UpstreamReference, { kind: 'stream' }>;

export type TaskMethod = 'tasks/get' | 'tasks/result' | 'tasks/cancel';
export type QuestionListener = (question: UpstreamQuestion) => Promise<QuestionAnswer>;

export interface TaskFollower {
  onQuestion: QuestionListener;
  /** The session can carry no more requests. */
  onClosed(): void;
}

export interface TaskLimits {
  /** Gives up after so long; undefined: never. */
  limitMs?: number;
  maxResultBytes: number;
}

/** The requests about the MCP tasks of a session. */
export interface SessionTasks {
  /** Asks for a task that is kept for `ttlMs`; progress is told until it is no longer followed. */
  create(
    request: ToolRequest,
    ttlMs: number,
    onProgress: (progress: UpstreamProgress) => void,
  ): SessionCall;

  ask(method: TaskMethod, taskId: string, limits: TaskLimits): SessionCall;

  /** From now on what comes of the task by itself goes to the follower, until the returned function is called. */
  follow(taskId: string, follower: TaskFollower): () => void;
}

/**
 * A connection to one upstream. What is above knows this port and no class of an MCP SDK, so that
 * servers of another protocol generation or transport need an adapter and nothing else.
 */
export abstract class UpstreamSession {
  abstract readonly about: UpstreamAbout;

  /** Resolves once when the session can carry no more calls, by itself or because it was closed. */
  abstract readonly closed: Promise<void>;

  /** Undefined: the upstream does not run `tools/call` as MCP tasks. */
  abstract readonly tasks: SessionTasks | undefined;

  /** Undefined: the session ends with this process. */
  abstract readonly place: SessionPlace | undefined;

  /** Sends the request at once. The listener is told nothing after the end. */
  abstract call(request: ToolRequest, listener: UpstreamListener): SessionCall;

  /** Goes on with a request of another process; the listener is told as by `call`. */
  abstract resume(
    reference: StreamReference,
    maxResultBytes: number,
    listener: UpstreamListener,
  ): SessionCall;

  /** One page of the tool list. @throws UpstreamFailure */
  abstract listTools(cursor: string | undefined): Promise<ToolPage>;

  /** The listener is told each time when the upstream says that its tools changed. */
  abstract onToolsChanged(listener: () => void): void;

  /**
   * Ends everything that is still open; calls in flight fail as lost. `forget` tells the upstream to
   * drop its session too: some upstreams end their running calls then. Never rejects.
   */
  abstract close(options: { forget: boolean }): Promise<void>;
}

/** Opens sessions. */
export abstract class UpstreamConnector {
  /**
   * Connects and initialises within 10 s; a program has 30 s to start. Gives up, and leaves nothing
   * open, when the signal is aborted. On a connection that one session or one call uses the upstream
   * may ask questions.
   * @throws UpstreamFailure `upstream_unreachable`
   */
  abstract connect(server: McpServer, use: Sharing, signal: AbortSignal): Promise<UpstreamSession>;

  /** A session of another process, to go on with this of its calls; nothing is sent for that alone. */
  abstract attach(server: HttpMcpServer, reference: UpstreamReference): Promise<UpstreamSession>;
}
