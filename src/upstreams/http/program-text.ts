/** Whether a program can be given this text as it is: no NUL, no lone surrogate. */
export function isProgramText(value: unknown, maxChars: number): value is string {
  if (typeof value !== 'string' || value.length > maxChars) return false;
  return !value.includes('\0') && value.isWellFormed();
}
