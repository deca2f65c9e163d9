/** What is asked of an upstream. `arguments` come from the raw body: own keys such as `__proto__` are kept. */
export interface ToolRequest {
  tool: string;
  arguments: Record<string, unknown>;
}

/** A CallToolResult as the upstream sent it: nothing is checked, added or taken away. */
export type ToolResult = Record<string, unknown>;

export interface UpstreamProgress {
  progress: number;
  total?: number;
  message?: string;
}

export type ProgressListener = (progress: UpstreamProgress) => void;

/** Why an upstream gave no result. */
export type UpstreamErrorCode = 'upstream_error' | 'upstream_lost' | 'upstream_unreachable';

export type UpstreamOutcome =
  | { kind: 'result'; result: ToolResult }
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
}
