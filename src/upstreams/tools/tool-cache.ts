import type { Clock } from '../../common/clock.js';
import type { ToolList } from './tool-list.js';

/** Not every server says when its tools change. */
const MAX_AGE_MS = 300_000;

interface Entry {
  list: ToolList | undefined;
  loadedAtMs: number;
  loading: Promise<ToolList> | undefined;
}

/** What the upstreams offer, by connection key: until they say that it changed, at most 5 minutes. */
export class ToolCache {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly clock: Clock) {}

  /** From memory where that is fresh. @throws what `load` throws */
  async get(key: string, load: () => Promise<ToolList>): Promise<ToolList> {
    const entry = this.entries.get(key);
    const isFresh =
      entry?.list !== undefined && this.clock.monotonicMs() - entry.loadedAtMs < MAX_AGE_MS;
    return isFresh ? (entry.list as ToolList) : this.renew(key, load);
  }

  /** Asks anew; those that come meanwhile wait for the same answer. @throws what `load` throws */
  renew(key: string, load: () => Promise<ToolList>): Promise<ToolList> {
    const existing = this.entries.get(key);
    if (existing?.loading !== undefined) return existing.loading;
    const entry: Entry = existing ?? { list: undefined, loadedAtMs: 0, loading: undefined };
    this.entries.set(key, entry);
    const beganAtMs = this.clock.monotonicMs();
    entry.loading = load()
      .then((list) => {
        entry.list = list;
        entry.loadedAtMs = beganAtMs;
        return list;
      })
      .finally(() => (entry.loading = undefined));
    return entry.loading;
  }

  /** It changed: what is being loaded now may be too old already. */
  forget(key: string): void {
    this.entries.delete(key);
  }

  /** The server was connected to anew and may be another one by now; who is loading asks the new one. */
  expire(key: string): void {
    const entry = this.entries.get(key);
    if (entry !== undefined) entry.list = undefined;
  }

  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.entries.keys()) if (!keys.has(key)) this.entries.delete(key);
  }
}
