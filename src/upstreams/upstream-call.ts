/** What is asked of an upstream. `arguments` come from the raw body: own keys such as `__proto__` are kept. */
export interface ToolRequest {
  tool: string;
  arguments: Record<string, unknown>;
  /** Whether an upstream that offers it may run the call as an MCP task: true for calls that may be handed over. */
  mayBeTask: boolean;
  /** Bytes of a result that are kept; one that is longer ends the call as it comes. */
  maxResultBytes: number;
  /** W3C Trace Context of the caller, passed on in `_meta` and, over HTTP, as a header. */
  traceparent?: string | undefined;
  /** Equal for the calls of one session of an app, or of one bot, and for no others. */
  initiator: string;
}

/** A CallToolResult as the upstream sent it: nothing is checked, added or taken away. */
export type ToolResult = Record<string, unknown>;

export interface UpstreamProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** What another process needs to go on with a call. Times are in milliseconds. */
export type UpstreamReference =
  | {
      kind: 'task';
      url: string;
      sessionId: string | null;
      protocolVersion: string;
      taskId: string;
      /** How long the upstream keeps the task from its creation; null: for ever. */
      ttlMs: number | null;
    }
  | {
      kind: 'stream';
      url: string;
      sessionId: string;
      protocolVersion: string;
      /** Names the request in that session. */
      requestId: number;
      lastEventId: string;
    };

export interface UpstreamQuestion {
  message: string;
  /** JSON Schema of the answer's content. */
  schema: Record<string, unknown>;
  /** Aborts when the upstream does not want to know any more; the answer is dropped then. */
  withdrawn?: AbortSignal;
}

export type QuestionAnswer =
  | { action: 'accept'; content: Record<string, unknown> }
  | { action: 'decline' }
  /** `reason`: why nobody was asked, for the upstream's log. */
  | { action: 'cancel'; reason?: string };

/** Told what happens while a call is under way; nothing after its end. */
export interface UpstreamListener {
  /**
   * Asked when the connection stands, just before the request is sent, and again if it is sent once more
   * because it surely was not received. False: it is not sent, and ends as `upstream_unreachable` with a message
   * that says so; the connection goes on.
   */
  mayAsk?(): Promise<boolean>;
  onProgress(progress: UpstreamProgress): void;
  /** What another process needs to go on with the call; told again whenever it changes. */
  onReference(reference: UpstreamReference): void;
  /** The upstream wants to know something of the user; the call goes on with the answer. */
  onQuestion(question: UpstreamQuestion): Promise<QuestionAnswer>;
}

/** Why an upstream gave no result. */
export type UpstreamErrorCode =
  'upstream_error' | 'upstream_lost' | 'upstream_unreachable' | 'outbound_refused' | 'output_limit';

export type UpstreamOutcome =
  | { kind: 'result'; result: ToolResult }
  /** The result was longer than allowed, so that receiving it was stopped after `bytes`; `kept` reads its beginning. */
  | { kind: 'oversized'; kept: () => ToolResult; bytes: number; message: string }
  | {
      kind: 'error';
      code: UpstreamErrorCode;
      message: string;
      /** The upstream may have done the work, or be doing it. */
      outcomeUnknown: boolean;
    };

/** One `tools/call` that is under way. */
export interface UpstreamCall {
  /** Never rejects. Of a cancelled call: an error, unless the result was faster. */
  readonly outcome: Promise<UpstreamOutcome>;
  /**
   * Tells the upstream to stop and closes the response stream a second later; resolves then, at the
   * latest after a few seconds. May be called again, and at any time.
   */
  cancel(reason: string): Promise<void>;
  /**
   * Leaves the call to another process: what is open here is closed, the upstream is told nothing, and
   * its session is never ended by this process. Of a call without a reference: it is lost.
   */
  detach(): void;
}
