import type { AppDirectory } from '../../apps/app.directory.js';
import type { TargetAddress } from '../../targets/target-address.js';
import { WorkspaceFolder } from './workspace-folder.js';
import { RESULT_FOLDER, workspacePath } from './workspace-path.js';

/** Whose workspace it is. */
export interface Workspace {
  appId: string;
  address: TargetAddress;
}

/** The folder of the results in each workspace; whoever gets one closes it. */
export class ResultFolders {
  constructor(
    /** Of all workspaces. */
    readonly root: string,
    private readonly apps: AppDirectory,
  ) {}

  /** Makes what is missing. */
  async open(workspace: Workspace): Promise<WorkspaceFolder> {
    const root = await WorkspaceFolder.openRoot(this.root);
    try {
      return await root.descend(this.wayTo(workspace));
    } finally {
      await root.close();
    }
  }

  /** Undefined: there is none. Nothing is made on the way there. */
  async find(workspace: Workspace): Promise<WorkspaceFolder | undefined> {
    return WorkspaceFolder.find(this.root, this.wayTo(workspace));
  }

  private wayTo({ appId, address }: Workspace): string[] {
    const app = { id: appId, name: this.apps.byId(appId)?.name };
    return [...workspacePath(app, address), ...RESULT_FOLDER];
  }
}
