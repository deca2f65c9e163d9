import { expect, it } from '@jest/globals';
import { watchBody } from './watched-body.js';

/** As events are taken out of pieces. */
const letters = new TransformStream<string, string>({
  transform: (text, letter) => {
    for (const one of text) letter.enqueue(one);
  },
});

it('A body that breaks off is read to where it broke, through pipes as well', async () => {
  const pieces = ['here comes', ' the answer'].map((text) => new TextEncoder().encode(text));
  const source = new ReadableStream<Uint8Array>({
    pull: (body) => {
      const piece = pieces.shift();
      if (piece === undefined) body.error(new TypeError('terminated'));
      else body.enqueue(piece);
    },
  });
  let ending: unknown;
  const { body } = watchBody(
    new Response(source),
    async function* (chunks) {
      yield* chunks;
    },
    ({ error }) => (ending = error),
  );
  const reader = body!.pipeThrough(new TextDecoderStream()).pipeThrough(letters).getReader();
  let text = '';
  const readAll = async (): Promise<void> => {
    for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
  };
  await expect(readAll()).rejects.toThrow('terminated');
  expect(text).toBe('here comes the answer');
  expect(ending).toMatchObject({ message: 'terminated' });
});
