const UNSAID_MS = 5_000;
const SHORTEST_MS = 1_000;
const LONGEST_MS = 3_600_000;
const SECONDS = /^\d{1,9}$/;

/**
 * Milliseconds that a busy receiver wants to be left alone, from a second to an hour: its `Retry-After`
 * (RFC 9110, seconds or a date), or 5 s where it has said nothing that can be read.
 */
export function retryAfterMs(header: string | null, now: Date): number {
  const text = header?.trim() ?? '';
  const askedMs = SECONDS.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  if (Number.isNaN(askedMs)) return UNSAID_MS;
  return Math.min(Math.max(askedMs, SHORTEST_MS), LONGEST_MS);
}
