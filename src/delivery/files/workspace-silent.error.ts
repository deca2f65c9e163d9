/** For the queue and the work together; a leaving process gives its last ends 5 s. */
export const WORKSPACE_LIMIT_MS = 4_000;

/** The disk of the workspaces does not answer. */
export class WorkspaceSilentError extends Error {
  constructor() {
    super('The folder of the workspaces does not answer in time.');
  }
}
