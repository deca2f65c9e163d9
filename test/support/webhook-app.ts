import { SendTimes } from '../../src/delivery/sending/send-times.js';
import type { Api } from './api.js';
import type { TestService } from './service.js';

const TICK_MS = 50;

/** Of the app `default`, the oldest; answers its secret where the change has made one. */
export async function changeDelivery(admin: Api, delivery: object): Promise<string | undefined> {
  const answer = await admin.patch(await appPath(admin), { delivery });
  if (answer.status !== 200) throw new Error(`not changed: ${answer.text}`);
  return answer.body.delivery.secret as string | undefined;
}

export async function rotateSecret(admin: Api): Promise<string> {
  const answer = await admin.post(`${await appPath(admin)}/rotate-webhook-secret`);
  if (answer.status !== 200) throw new Error(`not rotated: ${answer.text}`);
  return answer.body.delivery.secret as string;
}

export async function testDelivery(admin: Api): Promise<any> {
  return (await admin.post(`${await appPath(admin)}/test-delivery`)).body;
}

/** Looks more often, so that a test need not wait. */
export function hurry(service: Pick<TestService, 'get'>, times: Partial<SendTimes> = {}): void {
  Object.assign(service.get(SendTimes), new SendTimes(), { tickMs: TICK_MS, ...times });
}

async function appPath(admin: Api): Promise<string> {
  const { body } = await admin.get('/admin/v1/apps?order=asc');
  return `/admin/v1/apps/${body.data[0].id}`;
}
