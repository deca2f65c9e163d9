import { scrape } from '../test/support/metrics.js';

/** The processor time that a service has used so far, in milliseconds. */
export async function serviceCpuMs(url: string): Promise<number> {
  return ((await scrape(url)).get('process_cpu_seconds_total') ?? NaN) * 1_000;
}

/** The processor time that this process has used so far, in milliseconds. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
