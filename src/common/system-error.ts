/** What is known of an operation of the system that failed. */
interface SystemFailure {
  code?: string;
  syscall?: string;
  message?: string;
}

/** Whether an operation of the system failed for this reason, such as `ENOENT`. */
export function isSystemError(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

/** `fetch` says only "fetch failed"; what happened is in its cause, of several addresses the first. */
export function systemFailure(error: unknown): SystemFailure {
  const cause = ((error as { cause?: unknown }).cause ?? error) as { errors?: SystemFailure[] };
  return cause.errors?.[0] ?? (cause as SystemFailure);
}

/** The same in a few words. */
export function systemReason(error: unknown): string {
  const { code, message } = systemFailure(error);
  const text = message === undefined || message === '' ? String(error) : message;
  return code === undefined || text.includes(code) ? text : `${code} ${text}`;
}
