import { isJsonObject } from '../../common/json-object.js';
import type { UpstreamTool } from '../upstream-session.js';

/** As long as a tool call may name it. */
const MAX_NAME_CHARS = 256;

/** Why something in a tool list can't be offered as a tool; undefined when nothing speaks against it. */
export function toolFlaw(told: unknown): string | undefined {
  if (!isJsonObject(told)) return 'it is not an object';
  const { name, inputSchema } = told;
  if (typeof name !== 'string' || name === '') return 'it has no name';
  if (name.length > MAX_NAME_CHARS) return `its name is longer than ${MAX_NAME_CHARS} characters`;
  if (/\p{Cc}/u.test(name)) return 'its name has control characters';
  if (!isJsonObject(inputSchema)) return 'its inputSchema is not an object';
  if (inputSchema.type !== 'object') return 'the type of its inputSchema is not "object"';
  return undefined;
}

export type TaskSupport = 'required' | 'optional' | 'forbidden';

/** Whether a tool wants to be run as an MCP task. */
export function taskSupportOf({ execution }: UpstreamTool): TaskSupport {
  const support = isJsonObject(execution) ? execution.taskSupport : undefined;
  return support === 'required' || support === 'optional' ? support : 'forbidden';
}
