import { DomainError } from '../common/domain-error.js';
import { cutText } from '../common/storable-text.js';
import type { ToolResult, UpstreamErrorCode, UpstreamOutcome } from './upstream-call.js';

const MAX_MESSAGE_CHARS = 2_000;

/**
 * An upstream gave no result. `upstream_error`: it answered with a JSON-RPC error;
 * `upstream_lost`: the connection broke after the request had been sent;
 * `upstream_unreachable`: the request surely did not get there;
 * `outbound_refused`: its address may not be connected to;
 * `output_limit`: its result is longer than what is kept.
 */
export class UpstreamFailure extends DomainError {
  constructor(
    readonly code: UpstreamErrorCode,
    message: string,
    readonly outcomeUnknown = code === 'upstream_lost',
  ) {
    super(cutText(message, MAX_MESSAGE_CHARS), {
      extensions: outcomeUnknown ? { outcomeUnknown } : {},
    });
  }

  toOutcome(): UpstreamOutcome {
    const { code, message, outcomeUnknown } = this;
    return { kind: 'error', code, message, outcomeUnknown };
  }
}

/** The upstream no longer knows our session, as after its restart; the request surely did not run. */
export class SessionForgotten extends UpstreamFailure {
  constructor(message: string) {
    super('upstream_unreachable', message);
  }
}

/** The call may not be sent, for a reason on this side: it says nothing about the connection or the server. */
export class CallNotSent extends UpstreamFailure {
  constructor() {
    super(
      'upstream_unreachable',
      'The call was stopped before it was sent: its upstream was not asked.',
    );
  }
}

/** The upstream answered that it does not take this request, so it is there; the request did not run. */
export class RequestRefused extends UpstreamFailure {
  constructor(reason: string) {
    super('upstream_unreachable', `The upstream refused the request: ${reason}`);
  }
}

/** The upstream answered with a JSON-RPC error. */
export class RpcFailure extends UpstreamFailure {
  constructor(
    message: string,
    readonly rpcCode: number,
  ) {
    super('upstream_error', message);
  }
}

/** The call was cancelled by us; `wasSent` says whether the upstream may know of it. */
export class CallCancelled extends UpstreamFailure {
  constructor(reason: string, wasSent: boolean) {
    super('upstream_lost', `The call was cancelled: ${reason}`, wasSent);
  }
}

/** The result was longer than allowed, and receiving it was stopped after `bytes`; `kept` reads its beginning. */
export class ResultOversized extends UpstreamFailure {
  constructor(
    private readonly kept: () => ToolResult,
    private readonly bytes: number,
  ) {
    const message = 'The result is larger than results.maxBytes allows: receiving it was stopped';
    super('output_limit', `${message} after ${bytes} bytes.`);
  }

  override toOutcome(): UpstreamOutcome {
    const { kept, bytes, message } = this;
    return { kind: 'oversized', kept, bytes, message };
  }
}

/** The upstream, or what stands before it, answered with a failure of its own: it is there. */
export class RequestFailed extends UpstreamFailure {
  constructor(message: string) {
    super('upstream_lost', message);
  }
}
