import { randomUUID } from 'node:crypto';
import { Api } from './api.js';
import { eventually } from './eventually.js';
import type { TestService } from './service.js';

/** A second app with an agent key of its own, made behind the API, which can't make apps yet. */
export async function anotherApp(
  service: TestService,
): Promise<{ id: string; name: string; agent: Api }> {
  const [appId, key] = [randomUUID(), `agent-key-of-another-app-${randomUUID()}`];
  const name = `app-${appId}`;
  await service.sql('INSERT INTO apps (id, name) VALUES ($1, $2)', [appId, name]);
  await service.sql(
    `INSERT INTO api_keys (id, app_id, audience, origin, prefix, hash)
     VALUES ($1, $2, 'agent', 'generated', 'agent', sha256($3::bytea))`,
    [randomUUID(), appId, Buffer.from(key)],
  );
  await service.sql(`SELECT pg_notify('bgc_keys_changed', ''), pg_notify('bgc_apps_changed', '')`);
  const agent = new Api(service.url, key);
  const isValid = async (): Promise<boolean> =>
    (await agent.get('/v1/sessions/s-1/background-calls')).status === 200;
  await eventually('the key is valid', isValid);
  return { id: appId, name, agent };
}
