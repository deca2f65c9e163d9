import { randomUUID } from 'node:crypto';
import { Database } from '../../src/database/database.js';
import type { CallNotice } from '../../src/delivery/call-notice.js';
import { NotificationOutbox } from '../../src/delivery/notification-outbox.js';
import type { TargetAddress } from '../../src/targets/target-address.js';
import { TargetRepository } from '../../src/targets/target.repository.js';
import { aNotice } from './a-notice.js';
import { insertEndedCall } from './ended-call.js';
import type { ServiceUnderTest } from './service-fixture.js';

/** Ends a call of a session or a bot of any app, as if it had run here; answers the UUID of the call. */
export async function endCallOf(
  service: Pick<ServiceUnderTest, 'get'>,
  appId: string,
  address: TargetAddress,
  changes: Partial<CallNotice> = {},
): Promise<string> {
  const notice = aNotice({ callId: randomUUID(), ...changes });
  await service.get(Database).transaction(async (tx) => {
    const target = await service.get(TargetRepository).lock(tx, appId, address);
    await insertEndedCall(tx, target, notice);
    await service.get(NotificationOutbox).record(tx, target, notice);
  });
  return notice.callId;
}
