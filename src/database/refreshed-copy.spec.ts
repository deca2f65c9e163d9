import { afterEach, describe, expect, it } from '@jest/globals';
import { Logger } from '../common/logger.js';
import type { ChannelListener } from './channel-listener.js';
import { RefreshedCopy } from './refreshed-copy.js';

class FakeListener {
  tell = (): void => undefined;
  reconnect = (): void => undefined;

  on(_channel: string, handler: () => void): void {
    this.tell = handler;
  }

  onReconnect(handler: () => void): void {
    this.reconnect = handler;
  }
}

/** Loads that the test ends one by one. */
class GatedLoads {
  readonly started: { succeed(value: string): void; fail(): void }[] = [];

  load = (): Promise<string> =>
    new Promise((resolve, reject) => {
      this.started.push({ succeed: resolve, fail: () => reject(new Error('away')) });
    });
}

const settled = (): Promise<void> => new Promise(setImmediate);

describe('a refreshed copy', () => {
  let copy: RefreshedCopy<string>;
  afterEach(() => copy.stop());

  const start = async (): Promise<{ listener: FakeListener; loads: GatedLoads }> => {
    const listener = new FakeListener();
    const loads = new GatedLoads();
    copy = new RefreshedCopy({
      channel: 'bgc_settings_changed',
      pollMs: 60_000,
      load: loads.load,
      listener: listener as unknown as ChannelListener,
      logger: Logger.create('silent'),
    });
    const started = copy.start();
    await settled();
    loads.started[0]?.succeed('first');
    await started;
    return { listener, loads };
  };

  it('is read again when a change is told and when the listener is back', async () => {
    const { listener, loads } = await start();
    listener.tell();
    await settled();
    loads.started[1]?.succeed('told');
    await settled();
    expect(copy.current).toBe('told');
    listener.reconnect();
    await settled();
    loads.started[2]?.succeed('back');
    await settled();
    expect(copy.current).toBe('back');
  });

  it('looks by itself from time to time', async () => {
    const values = ['first', 'seen'];
    copy = new RefreshedCopy({
      channel: 'bgc_settings_changed',
      pollMs: 1,
      load: () => Promise.resolve(values.length > 1 ? values.shift()! : values[0]!),
      listener: new FakeListener() as unknown as ChannelListener,
      logger: Logger.create('silent'),
    });
    await copy.start();
    expect(copy.current).toBe('first');
    while (copy.current !== 'seen') await settled();
  });

  it('waits for a load that began after the wish, not for one that was under way', async () => {
    const { listener, loads } = await start();
    listener.tell();
    await settled();
    const refreshed = copy.refresh();
    const together = copy.refresh();
    expect(loads.started).toHaveLength(2);
    loads.started[1]?.succeed('old');
    await settled();
    expect(loads.started).toHaveLength(3);
    loads.started[2]?.succeed('new');
    await Promise.all([refreshed, together]);
    expect(copy.current).toBe('new');
  });

  it('stays as it was while the database is away, and says so to who asked', async () => {
    const { loads } = await start();
    const refreshed = copy.refresh();
    await settled();
    loads.started[1]?.fail();
    await expect(refreshed).rejects.toThrow('away');
    expect(copy.current).toBe('first');
    const again = copy.refresh();
    await settled();
    loads.started[2]?.succeed('back');
    await again;
    expect(copy.current).toBe('back');
  });

  it('cannot be read before it was loaded', () => {
    const unstarted = new RefreshedCopy({
      channel: 'bgc_keys_changed',
      pollMs: 1,
      load: () => Promise.resolve(''),
      listener: new FakeListener() as unknown as ChannelListener,
      logger: Logger.create('silent'),
    });
    expect(() => unstarted.current).toThrow('not loaded yet');
  });
});
