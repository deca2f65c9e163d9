import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, realpath, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '../../common/system-error.js';

const FOLDER_MODE = 0o755;
const FILE_MODE = 0o644;
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
const OPEN_FOLDERS = '/proc/self/fd';
/** Linux names what a process holds open: such a name leads there whatever becomes of the path. */
const CAN_NAME_OPEN_FOLDERS = process.platform === 'linux' && existsSync(OPEN_FOLDERS);

/**
 * A folder that is held open. A session's agent may own it and change what lies in it at any time, so
 * no link is followed on the way down, and on Linux nothing that is moved or replaced meanwhile can
 * lead a write elsewhere. Elsewhere the path is checked at each step, which leaves that short window.
 */
export class WorkspaceFolder {
  private constructor(
    private readonly handle: FileHandle,
    private readonly path: string,
  ) {}

  /** The root may be reached through links: it is the operator's. Made when it is missing. */
  static async openRoot(path: string): Promise<WorkspaceFolder> {
    await mkdir(path, { recursive: true });
    return WorkspaceFolder.openExisting(await realpath(path));
  }

  /** Undefined when there is no folder at the end of the way below the root; links are refused. */
  static async find(root: string, names: readonly string[]): Promise<WorkspaceFolder | undefined> {
    try {
      let folder = await WorkspaceFolder.openExisting(await realpath(root));
      for (const name of names) {
        const parent = folder;
        try {
          folder = await WorkspaceFolder.openExisting(parent.at(name), join(parent.path, name));
        } finally {
          await parent.close();
        }
      }
      return folder;
    } catch (error) {
      if (isSystemError(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  /** Opens the folder at the end of the way, making what is missing; links are refused. */
  async descend(names: readonly string[]): Promise<WorkspaceFolder> {
    let folder: WorkspaceFolder = await this.enter(names[0] as string);
    for (const name of names.slice(1)) {
      const parent = folder;
      try {
        folder = await parent.enter(name);
      } finally {
        await parent.close();
      }
    }
    return folder;
  }

  /** Writes a file that must not exist yet, to the disk; readable by all whatever the umask. */
  async create(name: string, body: string | Buffer, signal: AbortSignal): Promise<void> {
    const handle = await open(this.at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
    try {
      await handle.chmod(FILE_MODE);
      await handle.writeFile(body, { signal });
      await handle.datasync();
    } finally {
      await handle.close();
    }
  }

  /** Gives a file its name; what had it, a link too, is replaced and not followed. */
  async rename(from: string, to: string): Promise<void> {
    await rename(this.at(from), this.at(to));
  }

  /**
   * Removes the files whose names pass; what somebody else has removed is no failure. Rejects, when all
   * were tried, with the first failure; the signal ends it between two files.
   */
  async remove(isMeant: (name: string) => boolean, signal?: AbortSignal): Promise<void> {
    const failures: unknown[] = [];
    for (const name of (await readdir(this.at('.'))).filter(isMeant)) {
      signal?.throwIfAborted();
      await unlink(this.at(name)).catch((error: unknown) => {
        if (!isSystemError(error, 'ENOENT')) failures.push(error);
      });
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Brings the names to the disk. */
  async sync(): Promise<void> {
    await this.handle.sync();
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  private async enter(name: string): Promise<WorkspaceFolder> {
    const path = this.at(name);
    const isNew = await makeFolder(path);
    const folder = await WorkspaceFolder.openExisting(path, join(this.path, name));
    if (isNew)
      await folder.handle.chmod(FOLDER_MODE).catch((error: unknown) => folder.abandon(error));
    return folder;
  }

  private static async openExisting(at: string, path = at): Promise<WorkspaceFolder> {
    return new WorkspaceFolder(await open(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path);
  }

  private async abandon(error: unknown): Promise<never> {
    await this.close();
    throw error;
  }

  private at(name: string): string {
    return join(CAN_NAME_OPEN_FOLDERS ? `${OPEN_FOLDERS}/${this.handle.fd}` : this.path, name);
  }
}

/** False when it was there before, whatever it is. */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, FOLDER_MODE);
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    throw error;
  }
}
