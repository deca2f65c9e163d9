/** An instant as messages show it: `2026-01-31 12:00:00 UTC`. */
export function secondOf(instant: string): string {
  return `${new Date(instant).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
