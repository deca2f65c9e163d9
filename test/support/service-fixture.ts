import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { Engine } from './engine.js';
import { McpTestServer } from './mcp-server.js';
import { TestReplicas } from './replicas.js';
import { TestService } from './service.js';

/** What a test needs of the service, however many processes it is. */
export type ServiceUnderTest = Pick<
  TestService,
  'agent' | 'admin' | 'session' | 'register' | 'settings' | 'markTool' | 'get' | 'sql' | 'stop'
>;

type StartService = () => Promise<ServiceUnderTest>;

/** What stands on the other side of the load balancer must make no difference. */
export const SETUPS: [string, StartService][] = [
  ['one service', (): Promise<ServiceUnderTest> => TestService.start()],
  ['two replicas', (): Promise<ServiceUnderTest> => TestReplicas.start()],
  [
    'two replicas that lose what they listen with',
    (): Promise<ServiceUnderTest> => TestReplicas.start({ losesListeners: true }),
  ],
];

interface ServiceFixture<Service extends ServiceUnderTest> {
  /** Registered as `test`; it forgets before each test what it has seen. */
  upstream: McpTestServer;
  service: Service;
  /** Of a session that no other test knows. */
  engine: Engine;
}

/** One service and one MCP server for all tests of a `describe`, given to `take` before each of them. */
export function useService(take: (fixture: ServiceFixture<TestService>) => unknown): void {
  useServiceOf(() => TestService.start(), take);
}

/** Like `useService`, with a service that is started otherwise. */
export function useServiceOf<Service extends ServiceUnderTest>(
  start: () => Promise<Service>,
  take: (fixture: ServiceFixture<Service>) => unknown,
): void {
  let upstream: McpTestServer;
  let service: Service;

  beforeAll(async () => {
    upstream = await McpTestServer.start();
    service = await start();
    await service.register('test', upstream.url);
    take({ upstream, service, engine: service.session() });
  });

  beforeEach(() => {
    upstream.forgetCalls();
    take({ upstream, service, engine: service.session() });
  });

  afterAll(async () => {
    await service?.stop();
    await upstream.stop();
  });
}
