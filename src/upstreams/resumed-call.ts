import { within } from '../common/within.js';
import type { HttpMcpServer, McpServer } from './mcp-server.js';
import { TaskCall, type TaskCallParts } from './tasks/task-call.js';
import type { UpstreamCall, UpstreamOutcome, UpstreamReference } from './upstream-call.js';
import { UpstreamFailure } from './upstream-failure.js';
import type { SessionCall, UpstreamSession } from './upstream-session.js';

const ATTACH_MS = 2_000;

/** A call of another process: that it can't be reached does not mean that it did not run. */
export class ResumedCall implements UpstreamCall {
  readonly outcome: Promise<UpstreamOutcome>;

  /** `begun` resolves when the upstream is asked. */
  constructor(
    private readonly call: UpstreamCall,
    private readonly begun: Promise<void>,
  ) {
    this.outcome = call.outcome.then(asResumed);
  }

  /** It runs already, so the upstream has to be told, however soon the cancel comes. */
  async cancel(reason: string): Promise<void> {
    await within(ATTACH_MS, Promise.race([this.begun, this.outcome]));
    await this.call.cancel(reason);
  }

  detach(): void {
    this.call.detach();
  }
}

/** Asks for what another process began, in its session. */
export function goOn(
  session: UpstreamSession,
  reference: UpstreamReference,
  parts: Omit<TaskCallParts, 'session' | 'tasks'>,
): SessionCall {
  const { listener, maxResultBytes } = parts;
  if (reference.kind === 'stream') return session.resume(reference, maxResultBytes, listener);
  const { tasks } = session;
  if (tasks === undefined) throw cannot('the upstream runs no tasks');
  return TaskCall.resume({ session, tasks, ...parts }, reference);
}

/** The credentials of the server as it is now are for its address as it is now. @throws UpstreamFailure */
export function refuseForeign(server: McpServer, { url }: UpstreamReference): HttpMcpServer {
  if (server.transport !== 'http') throw cannot(`its transport is ${server.transport} now`);
  if (server.url !== url) throw cannot('its url is another one now');
  return server;
}

function cannot(why: string): UpstreamFailure {
  const message = `The call can't be gone on with at the MCP server: ${why}.`;
  return new UpstreamFailure('upstream_lost', message);
}

function asResumed(outcome: UpstreamOutcome): UpstreamOutcome {
  if (outcome.kind !== 'error' || outcome.code === 'upstream_error') return outcome;
  return { ...outcome, code: 'upstream_lost', outcomeUnknown: true };
}
