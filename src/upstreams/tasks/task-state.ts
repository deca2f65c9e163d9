/** An MCP task (2025-11-25) as the upstream tells it, with what can't be relied upon mended. */
export interface TaskState {
  taskId: string;
  status: string;
  statusMessage: string | undefined;
  /** How long the upstream keeps the task from its creation, in milliseconds; null: for ever. */
  ttlMs: number | null;
  pollMs: number;
}

const MIN_POLL_MS = 200;
const MAX_POLL_MS = 30_000;
const DEFAULT_POLL_MS = 1_000;
const TERMINAL = new Set(['completed', 'failed', 'cancelled']);

/** Undefined when this is no task. */
export function readTask(told: unknown): TaskState | undefined {
  const { taskId, status, statusMessage, ttl, pollInterval } = (told ?? {}) as Record<
    string,
    unknown
  >;
  if (typeof taskId !== 'string' || typeof status !== 'string') return undefined;
  const ttlMs = isDuration(ttl) ? ttl : null;
  return {
    taskId,
    status,
    statusMessage: typeof statusMessage === 'string' ? statusMessage : undefined,
    ttlMs,
    pollMs: pollMs(pollInterval, ttlMs),
  };
}

export function isTerminal({ status }: TaskState): boolean {
  return TERMINAL.has(status);
}

export function needsInput({ status }: TaskState): boolean {
  return status === 'input_required';
}

/** As the upstream wishes within bounds; often enough to see the end of a task that is kept for a short time. */
function pollMs(wished: unknown, ttlMs: number | null): number {
  const interval = isDuration(wished) ? wished : DEFAULT_POLL_MS;
  const longest = Math.min(MAX_POLL_MS, ttlMs === null ? MAX_POLL_MS : ttlMs / 4);
  return Math.max(MIN_POLL_MS, Math.min(interval, longest));
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
