import { isEngineId } from '../../common/engine-id.js';
import { toPublicId } from '../../common/ids.js';
import type { TargetAddress } from '../../targets/target-address.js';

/** Where results lie in a workspace. */
export const RESULT_FOLDER = ['.agent', 'mcp'] as const;

/**
 * Lower case, so that no two are one on a file system that ignores case; without the underscore of a
 * public id, so that no app can be called like the folder of another one.
 */
const SAFE_APP_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** The folders from the root of all workspaces down to a target's: its session's, or its team's. */
export function workspacePath(
  app: { id: string; name: string | undefined },
  address: TargetAddress,
): string[] {
  const { id, name } = app;
  const folder = name !== undefined && SAFE_APP_NAME.test(name) ? name : toPublicId('app', id);
  const [kind, owner] =
    address.type === 'session' ? ['sessions', address.sessionId] : ['teams', address.teamId];
  if (!isEngineId(owner)) throw new Error('An id that is no name of a folder has a workspace.');
  return [folder, kind, owner];
}
