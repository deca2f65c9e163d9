import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | undefined;

/**
 * Processor, memory, event loop and garbage collection. They belong to the process, not to a service
 * in it: what watches them cannot be taken back, so it is made once, when they are first asked for.
 */
export function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
