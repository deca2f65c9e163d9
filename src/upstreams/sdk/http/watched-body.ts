/** How a response body came to its end. */
export interface BodyEnd {
  /** Whether anything at all came. */
  hadContent: boolean;
  /** The failure of the connection; undefined at a regular end. */
  error: unknown;
}

/** The same response; `onEnd` is told once when its body is over, however that comes about. */
export function watchBody(response: Response, onEnd: (end: BodyEnd) => void): Response {
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (reader === undefined) {
    onEnd({ hadContent: false, error: undefined });
    return response;
  }
  let hadContent = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (!done) {
          hadContent = true;
          controller.enqueue(value);
          return;
        }
        controller.close();
        onEnd({ hadContent, error: undefined });
      } catch (error) {
        controller.error(error);
        onEnd({ hadContent, error });
      }
    },
    async cancel(reason) {
      onEnd({ hadContent, error: undefined });
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
