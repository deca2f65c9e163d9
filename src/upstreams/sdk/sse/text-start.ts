import { ERROR_BODY_MS } from '../answer-limits.js';

const MAX_CHARS = 2_000;

/** The beginning of a response's text, as far as it comes soon; the rest is not read. Never rejects. */
export async function textStart({ body }: Response): Promise<string> {
  const reader = (body as ReadableStream<Uint8Array> | null)?.getReader();
  if (reader === undefined) return '';
  const stop = (): Promise<void> => reader.cancel().catch(() => undefined);
  const late = setTimeout(() => void stop(), ERROR_BODY_MS);
  const decoder = new TextDecoder();
  let text = '';
  try {
    while (text.length < MAX_CHARS) {
      const { value, done } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return text;
  } finally {
    clearTimeout(late);
    await stop();
  }
  return text.slice(0, MAX_CHARS);
}
