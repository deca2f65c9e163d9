import { notifyChannel } from '../database/channel-listener.js';
import type { Queryable } from '../database/database.js';
import { targetKey } from './target-address.js';
import type { Target } from './target.repository.js';

/** Tells every replica, once the transaction commits, that a poll of this target may find something now. */
export async function notifyDeliveryReady(db: Queryable, target: Target): Promise<void> {
  await notifyChannel(db, 'bgc_delivery_ready', targetKey(target.appId, target.address));
}
