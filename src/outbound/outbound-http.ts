import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, type Dispatcher } from 'undici';
import { outsideRequestContext } from '../common/request-context.js';
import { guardedConnector } from './guarded-connect.js';
import { RedirectRefusedError } from './outbound-errors.js';
import { OutboundExchange } from './outbound-exchange.js';
import { OutboundPolicy } from './outbound-policy.js';
import { toDispatch } from './outbound-request.js';

const CONNECT_MS = 10_000;
/**
 * A request that goes out on a kept connection just while the other side closes it is lost, and
 * nobody can say whether it was received. So connections are kept for bursts only.
 */
const KEEP_MS = 1_000;
/**
 * Silence of a socket before its other side is asked for a sign of life: by TCP, so that the kernel
 * answers for a process that is merely busy. Ten questions without an answer, a second apart, end it.
 */
const PROBE_AFTER_MS = 20_000;

/** Requests to addresses that others have named: MCP servers, webhooks. No other way leads out. */
@Injectable()
export class OutboundHttp implements OnApplicationShutdown {
  private readonly dispatcher: Dispatcher;

  constructor(policy: OutboundPolicy) {
    this.dispatcher = this.createDispatcher(policy);
  }

  /**
   * Like the global `fetch`, on a dispatcher of our own: an answer may be silent for as long as it
   * likes. A body is text or bytes; no redirect is followed. Rejects like `fetch`, with an
   * AddressRefusedError as the cause, and with RedirectRefusedError.
   */
  async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    // A kept connection outlives the request that opened it, and must not be seen as part of it.
    const response = await outsideRequestContext(() => this.send(url, init));
    if (response.status < 300 || response.status > 399) return response;
    await response.body?.cancel();
    const location = response.headers.get('location');
    throw new RedirectRefusedError(response.status, location, new URL(url));
  }

  /** Ends what is still open. */
  async onApplicationShutdown(): Promise<void> {
    await this.dispatcher.destroy();
  }

  /**
   * No limits for headers and body: undici's default of 300 s would end a silent call. No cap on
   * connections either: a cancellation would wait behind the calls.
   */
  protected createDispatcher(policy: OutboundPolicy): Dispatcher {
    return new Agent({
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: guardedConnector(policy, {
        timeout: CONNECT_MS,
        keepAliveInitialDelay: PROBE_AFTER_MS,
      }),
      keepAliveTimeout: KEEP_MS,
      keepAliveMaxTimeout: KEEP_MS,
    });
  }

  private async send(url: string | URL, init: RequestInit): Promise<Response> {
    const request = toDispatch(url, init);
    // Connections that the other side has closed by now are seen as closed after a turn of the event loop.
    await nextTurn();
    return OutboundExchange.send(this.dispatcher, request, init.signal);
  }
}
