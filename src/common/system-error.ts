/** Whether an operation of the system failed for this reason, such as `ENOENT`. */
export function isSystemError(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
