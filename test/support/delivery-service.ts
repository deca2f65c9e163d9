import { randomUUID } from 'node:crypto';
import type { Type } from '@nestjs/common';
import { Database, type Transaction } from '../../src/database/database.js';
import type { CallNotice } from '../../src/delivery/call-notice.js';
import { DeliveryModule } from '../../src/delivery/delivery.module.js';
import { NotificationOutbox } from '../../src/delivery/notification-outbox.js';
import type { SettingsPatch } from '../../src/settings/settings-patch.js';
import { Settings } from '../../src/settings/settings.js';
import type { TargetAddress } from '../../src/targets/target-address.js';
import { type LockedTarget, TargetRepository } from '../../src/targets/target.repository.js';
import { TargetsModule } from '../../src/targets/targets.module.js';
import { aNotice } from './a-notice.js';
import { type BaseApp, startBaseApp } from './base-app.js';
import { insertEndedCall } from './ended-call.js';
import type { TestResponse } from './http-client.js';

export const AGENT_KEY = 'agent-key-of-the-delivery-test';
const KEYS = {
  BGC_ADMIN_KEY: 'admin-key-of-the-delivery-test',
  BGC_AGENT_KEY: AGENT_KEY,
  BGC_BOT_KEY: 'bot-key-of-the-delivery-tests',
};

/** A message as a receiver sees it. */
export interface ReceivedMessage {
  id: string;
  text: string;
  notifications: { id: string; callId: string; tool: string }[];
  target: { type: string; sessionId: string };
}

/** Turns and deliveries on a real database, over HTTP and from inside. */
export class DeliveryService {
  private constructor(
    readonly base: BaseApp,
    readonly appId: string,
  ) {}

  static async start(databaseUrl: string): Promise<DeliveryService> {
    const environment = { DATABASE_URL: databaseUrl, ...KEYS };
    const base = await startBaseApp(environment, [], [TargetsModule, DeliveryModule]);
    const [app] = await base.app.get(Database).query<{ id: string }>('SELECT id FROM apps');
    return new DeliveryService(base, app!.id);
  }

  get<T>(token: Type<T>): T {
    return this.base.app.get<T>(token);
  }

  get database(): Database {
    return this.get(Database);
  }

  async close(): Promise<void> {
    await this.base.close();
  }

  async set(patch: SettingsPatch): Promise<void> {
    await this.get(Settings).update(patch);
  }

  /** Locks the session's target and does `work` in that transaction. */
  async withLock<T>(
    sessionId: string,
    work: (tx: Transaction, target: LockedTarget) => Promise<T>,
  ): Promise<T> {
    return this.database.transaction(async (tx) => {
      const address: TargetAddress = { type: 'session', sessionId };
      return work(tx, await this.get(TargetRepository).lock(tx, this.appId, address));
    });
  }

  /** Ends a call of the session; answers the UUID of the call. */
  async endCall(sessionId: string, changes: Partial<CallNotice> = {}): Promise<string> {
    return this.withLock(sessionId, (tx, target) => this.endCallIn(tx, target, changes));
  }

  async endCallIn(
    tx: Transaction,
    target: LockedTarget,
    changes: Partial<CallNotice> = {},
  ): Promise<string> {
    const notice = aNotice({ callId: randomUUID(), ...changes });
    await insertEndedCall(tx, target, notice);
    await this.get(NotificationOutbox).record(tx, target, notice);
    return notice.callId;
  }

  async send(method: string, url: string, json?: unknown): Promise<TestResponse> {
    const headers = { authorization: `Bearer ${AGENT_KEY}` };
    return this.base.send({ method, url, headers, json });
  }

  async startTurn(sessionId: string, turnId?: string): Promise<TestResponse> {
    return this.send('POST', `/v1/sessions/${sessionId}/turns`, { turnId });
  }

  async endTurn(sessionId: string, turnId: string, interrupted?: boolean): Promise<TestResponse> {
    return this.send('POST', `/v1/sessions/${sessionId}/turns/${turnId}/end`, { interrupted });
  }

  async touchTurn(sessionId: string, turnId: string): Promise<TestResponse> {
    return this.send('POST', `/v1/sessions/${sessionId}/turns/${turnId}/touch`);
  }

  /** The messages that a poll of the session hands out. */
  async poll(sessionId: string, waitSec = 0): Promise<ReceivedMessage[]> {
    return messagesOf(await this.send('GET', `/v1/sessions/${sessionId}/messages?wait=${waitSec}`));
  }

  async pollAll(waitSec = 0): Promise<ReceivedMessage[]> {
    return messagesOf(await this.send('GET', `/v1/messages?wait=${waitSec}`));
  }

  async acknowledge(messageId: string, turnId?: string): Promise<TestResponse> {
    return this.send('POST', `/v1/messages/${messageId}/ack`, { turnId });
  }
}

export function messagesOf(response: TestResponse): ReceivedMessage[] {
  if (response.status !== 200) throw new Error(`${response.status}: ${response.text}`);
  return (response.body as { data: ReceivedMessage[] }).data;
}
