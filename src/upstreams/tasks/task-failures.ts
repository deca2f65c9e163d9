import { RpcFailure, SessionForgotten, UpstreamFailure } from '../upstream-failure.js';
import type { TaskState } from './task-state.js';

/** JSON-RPC errors that say that the request itself was wrong: there is no such task (any more). */
const NO_SUCH_TASK = new Set([-32600, -32601, -32602, -32002]);

/** Whether to ask again after this failure of `tasks/get` would lead nowhere. */
export function isTaskGone(failure: unknown): boolean {
  if (failure instanceof SessionForgotten) return true;
  return failure instanceof RpcFailure && NO_SUCH_TASK.has(failure.rpcCode);
}

export function taskGone(ttlMs: number | null, reason: string): UpstreamFailure {
  const kept = ttlMs === null ? '' : ` It was to be kept for ${ttlMs} ms.`;
  return lost(`The upstream no longer knows the task, which may have expired: ${reason}.${kept}`);
}

export function taskUnreachable(forMs: number, reason: string): UpstreamFailure {
  return lost(`The task could not be asked about for ${Math.round(forMs)} ms: ${reason}`);
}

/** What it means that `tasks/result` of a task that has ended failed. */
export function resultFailure(task: TaskState, failure: UpstreamFailure): UpstreamFailure {
  if (!(failure instanceof RpcFailure))
    return lost(`The result of the task is lost: ${failure.message}`);
  if (task.status === 'completed')
    return lost(
      `The task completed, but the upstream does not give its result: ${failure.message}`,
    );
  const { statusMessage } = task;
  const details =
    statusMessage === undefined || failure.message.includes(statusMessage)
      ? failure.message
      : `${statusMessage} (${failure.message})`;
  return new UpstreamFailure(
    'upstream_error',
    task.status === 'cancelled' ? `The upstream cancelled the task: ${details}` : details,
  );
}

function lost(message: string): UpstreamFailure {
  return new UpstreamFailure('upstream_lost', message);
}

/** It ran on a connection that could not be replaced. */
export function connectionClosed(): UpstreamFailure {
  return new UpstreamFailure('upstream_lost', 'The connection was closed while the task ran.');
}
