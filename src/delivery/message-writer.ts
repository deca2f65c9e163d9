import { Injectable } from '@nestjs/common';
import { AppDirectory } from '../apps/app.directory.js';
import { Ids } from '../common/ids.js';
import type { Transaction } from '../database/database.js';
import { EventLog } from '../events/event-log.repository.js';
import { Settings } from '../settings/settings.js';
import { composeMessage, MAX_NOTIFICATIONS } from './texts/call-message.js';
import { happenedAt, type PlacedNotice } from './call-notice.js';
import type { DeliverableTarget } from './deliverable.repository.js';
import type { MessageKind } from './message-kind.js';
import { type HandedOutMessage, MessageRepository } from './message.repository.js';
import { NotificationRepository } from './notification.repository.js';

interface WrittenMessage extends HandedOutMessage {
  kind: MessageKind;
  target: DeliverableTarget;
  notices: PlacedNotice[];
}

/** Makes messages of waiting notifications at the moment they are first handed out. */
@Injectable()
export class MessageWriter {
  constructor(
    private readonly ids: Ids,
    private readonly notifications: NotificationRepository,
    private readonly messages: MessageRepository,
    private readonly events: EventLog,
    private readonly apps: AppDirectory,
    private readonly settings: Settings,
  ) {}

  /** One message for each of the locked targets that has something waiting. */
  async write(tx: Transaction, targets: DeliverableTarget[]): Promise<HandedOutMessage[]> {
    if (targets.length === 0) return [];
    const ids = targets.map(({ id }) => id);
    const waiting = await this.notifications.listWaiting(tx, ids, MAX_NOTIFICATIONS);
    const made = targets.flatMap((target) => {
      const notices = waiting.get(target.id);
      return notices === undefined ? [] : [this.compose(target, notices)];
    });
    await this.store(tx, made);
    return made.map(({ target: _target, notices: _notices, kind: _kind, ...message }) => message);
  }

  private compose(target: DeliverableTarget, waiting: PlacedNotice[]): WrittenMessage {
    const id = this.ids.uuid();
    const locale = this.apps.localeOf(target.appId) ?? this.settings.current.messages.locale;
    const { address, now } = target;
    const { told, kind, body } = composeMessage({ id, address, locale, createdAt: now, waiting });
    const calls = told.map(({ notice }) => ({
      callId: notice.callId,
      sinceEndMs: now.getTime() - Date.parse(happenedAt(notice)),
    }));
    return {
      id,
      targetId: target.id,
      kind,
      body,
      attempts: 1,
      handOut: 1,
      told: calls,
      target,
      notices: told,
    };
  }

  private async store(tx: Transaction, made: WrittenMessage[]): Promise<void> {
    if (made.length === 0) return;
    await this.messages.insert(
      tx,
      made.map(({ id, kind, body, target }) => ({
        id,
        appId: target.appId,
        targetId: target.id,
        kind,
        body,
        createdAt: target.now,
      })),
    );
    await this.notifications.putInMessages(
      tx,
      made.flatMap(({ id, notices }) =>
        notices.map((placed) => ({ id: placed.id, messageId: id })),
      ),
    );
    await this.events.appendAll(
      tx,
      made.map(({ id, target, told }) => ({
        appId: target.appId,
        targetId: target.id,
        type: 'message.pending' as const,
        data: { messageId: id, notifications: told.length },
      })),
    );
  }
}
