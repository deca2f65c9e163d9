import type { OutboundHttp } from '../../../outbound/outbound-http.js';
import { limited } from './body-limits.js';
import type { RequestScope } from './request-scope.js';

const TELL_MS = 5_000;

/** The request by which the SDK tells the upstream of a cancellation; it must not hang for ever. */
export class CancelScope implements RequestScope {
  readonly told: Promise<void>;
  private markTold = (): void => undefined;

  constructor(private readonly http: OutboundHttp) {
    this.told = new Promise((resolve) => (this.markTold = resolve));
  }

  async fetch(url: string | URL, init: RequestInit): Promise<Response> {
    try {
      const signal = AbortSignal.timeout(TELL_MS);
      return limited(await this.http.fetch(url, { ...init, signal }));
    } finally {
      this.markTold();
    }
  }

  sent(): void {}

  received(): void {}

  answered(): void {}

  unanswered(): void {}

  failed(): void {}
}
