const MAX_CHARS = 2_000;

/** The beginning of a response's text; the rest is not read. Never rejects. */
export async function textStart({ body }: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (text.length >= MAX_CHARS) break;
    }
  } catch {
    return text;
  }
  return text.slice(0, MAX_CHARS);
}
