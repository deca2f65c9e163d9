/**
 * Waits until `work` settles, but no longer than `limitMs`. Answers whether it did in time; rejects
 * as it does. What goes on after that is not looked at any more, not even its failure.
 */
export async function within(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  try {
    return await Promise.race([work.then(() => true), limit]);
  } finally {
    clearTimeout(timer);
  }
}
