import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Logger } from '../../common/logger.js';
import { Database } from '../../database/database.js';
import type { BackgroundCall } from '../background-call.js';
import { toStoredReference } from './work-reference.js';
import { type ToldReference, WorkSignsRepository } from './work-signs.repository.js';

const INTERVAL_MS = 500;

/**
 * Writes the latest references of all calls of this process in one statement: the first of a call at
 * once, as nobody could go on with it before, others at most twice a second. What could not be written
 * is tried again until the call ends.
 */
@Injectable()
export class ReferenceWriter implements OnApplicationShutdown {
  private readonly pending = new Map<string, ToldReference>();
  /** The last that was told of a call, where that is not what its row said from the beginning. */
  private readonly told = new WeakMap<BackgroundCall, string>();
  private readonly stored = new WeakSet<BackgroundCall>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private isOver = false;

  constructor(
    private readonly database: Database,
    private readonly signs: WorkSignsRepository,
    private readonly logger: Logger,
  ) {}

  put(call: BackgroundCall, reference: object): void {
    const stored = toStoredReference(reference);
    if (!stored) {
      this.logger.warn('background_call.reference_too_large', { callId: call.id });
      return;
    }
    const isFirst = this.lastOf(call) === undefined;
    if (stored.text === this.lastOf(call)) return;
    this.told.set(call, stored.text);
    this.pending.set(call.id, { ...stored, call });
    if (isFirst) this.flush();
    else this.flushLater();
  }

  /** Whether the row says how another process can go on with the work. */
  isStored(call: BackgroundCall): boolean {
    return call.reference !== null || this.stored.has(call);
  }

  /** Resolves when the last reference of the call is written, or could not be. */
  async settle(call: BackgroundCall): Promise<void> {
    if (this.pending.has(call.id)) this.flush();
    await this.writing;
  }

  /** The call has ended or is another process's: what waits is not written any more. */
  forget(call: BackgroundCall): void {
    this.pending.delete(call.id);
  }

  onApplicationShutdown(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private lastOf(call: BackgroundCall): string | undefined {
    return (
      this.told.get(call) ?? (call.reference === null ? undefined : JSON.stringify(call.reference))
    );
  }

  private flushLater(): void {
    if (!this.isOver) this.timer ??= setTimeout(() => this.flush(), INTERVAL_MS);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.then(() => this.write());
  }

  /** One that was told meanwhile stays pending. */
  private async write(): Promise<void> {
    const batch = [...this.pending.values()];
    if (batch.length === 0) return;
    try {
      await this.signs.writeReferences(this.database, batch);
      for (const each of batch) {
        this.stored.add(each.call);
        if (this.pending.get(each.call.id) === each) this.pending.delete(each.call.id);
      }
    } catch (error) {
      this.logger.warn('background_call.reference_not_written', { calls: batch.length }, error);
      this.flushLater();
    }
  }
}
