import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Figure } from '../figure.js';
import { ms, Sample, timed } from '../sample.js';
import { ownCpuMs, serviceCpuMs } from '../service-cost.js';

const WARM_CALLS = 300;
const BLOCKS = 10;
const CALLS_PER_BLOCK = 100;
const CALLS = BLOCKS * CALLS_PER_BLOCK;

/** Blocks of both take turns, so that what else the machine does falls on both. */
export const foregroundCall: Figure = {
  name: 'foreground-call',
  about: 'a call in the foreground, beside the same call asked of the upstream directly',
  async measure(ground) {
    const { client, process: service } = await ground.service();
    const mcp = new McpClient({ name: 'bench', version: '1' });
    await mcp.connect(new StreamableHTTPClientTransport(new URL(ground.upstream.url)));
    const through = (): Promise<unknown> => client.call('s', 'echo', { a: 1 }, 'never');
    const direct = (): Promise<unknown> => mcp.callTool({ name: 'echo', arguments: { a: 1 } });
    await block(WARM_CALLS, through);
    await block(WARM_CALLS, direct);

    const tookMs = { through: [] as number[], direct: [] as number[] };
    const cpuMs = { through: 0, direct: 0 };
    for (let n = 0; n < BLOCKS; n++) {
      const serviceBefore = await serviceCpuMs(service.url);
      await block(CALLS_PER_BLOCK, through, tookMs.through);
      cpuMs.through += (await serviceCpuMs(service.url)) - serviceBefore;
      const ownBefore = ownCpuMs();
      await block(CALLS_PER_BLOCK, direct, tookMs.direct);
      cpuMs.direct += ownCpuMs() - ownBefore;
    }
    await mcp.close();

    const [service_, direct_] = [new Sample(tookMs.through), new Sample(tookMs.direct)];
    return [
      { what: 'through the service', value: String(service_) },
      { what: 'directly', value: String(direct_) },
      { what: 'ratio', value: service_.over(direct_) },
      { what: 'processor time of the service', value: `${ms(cpuMs.through / CALLS)} a call` },
      { what: 'of a direct client', value: `${ms(cpuMs.direct / CALLS)} a call` },
      { what: 'ratio', value: `× ${(cpuMs.through / cpuMs.direct).toFixed(1)}` },
    ];
  },
};

async function block(
  count: number,
  call: () => Promise<unknown>,
  tookMs: number[] = [],
): Promise<void> {
  for (let n = 0; n < count; n++) await timed(tookMs, call);
}
