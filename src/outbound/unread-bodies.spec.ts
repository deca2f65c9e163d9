import { describe, expect, it, jest } from '@jest/globals';
import { endUnread } from './unread-bodies.js';

describe('the body of a response that was dropped', () => {
  it('is cancelled', async () => {
    const cancel = jest.fn<() => void>();
    await endUnread(new ReadableStream({ cancel }));
    expect(cancel).toHaveBeenCalledTimes(1);
  });

  it('fails nobody when it has broken', async () => {
    const start = (controller: ReadableStreamDefaultController): void =>
      controller.error(new Error('the connection broke'));
    await expect(endUnread(new ReadableStream({ start }))).resolves.toBeUndefined();
  });

  it('is left alone when somebody reads it, or has read some of it', async () => {
    const cancel = jest.fn<() => void>();
    const pull = (controller: ReadableStreamDefaultController): void => controller.enqueue('x');
    const body = new ReadableStream({ pull, cancel });
    const reader = body.getReader();
    await endUnread(body);
    await reader.read();
    reader.releaseLock();
    await endUnread(body);
    expect(cancel).not.toHaveBeenCalled();
  });
});
