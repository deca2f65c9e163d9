import { Script } from 'node:vm';

const CALL = new Script('work()');

/**
 * Runs synchronous work that input from outside may make endless, for example a regular expression.
 * @throws what `work` throws, or an error when it took longer than `ms`.
 */
export function runAtMost<T>(ms: number, work: () => T): T {
  return CALL.runInNewContext({ work }, { timeout: ms }) as T;
}
