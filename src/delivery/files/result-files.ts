import { resolve } from 'node:path';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AppDirectory } from '../../apps/app.directory.js';
import { Ids, toPublicId } from '../../common/ids.js';
import { Logger } from '../../common/logger.js';
import { within } from '../../common/within.js';
import { Configuration } from '../../config/environment.js';
import { FileWriters } from './file-writers.js';
import { type FiledResult, type ResultFile, toFiledResult } from './filed-result.js';
import {
  fileName,
  type FileWriter,
  isOfAny,
  isWrittenByAny,
  temporaryName,
} from './result-file-name.js';
import { ResultFolders, type Workspace } from './result-folders.js';
import { RemovalLane } from './removal-lane.js';
import { WorkspaceFolder } from './workspace-folder.js';
import { RESULT_FOLDER } from './workspace-path.js';
import { WORKSPACE_LIMIT_MS } from './workspace-silent.error.js';

/** With the removals that is all but one of the threads that everything else of the process needs as well. */
const WRITERS = 2;
const MAX_FILES = 100;

/** Whose result it is, and who writes it. */
type FiledCall = Workspace & FileWriter;

/** One part of a result on its way to a file. */
export interface FileContent {
  /** The number of the part, as the API counts. */
  part: number;
  isText: boolean;
  /** Made when its turn comes: only a few are in memory at a time. */
  read(): { extension: string; body: string | Buffer };
}

/** A call whose owner can't record its end any more. */
export interface LeftCall extends Workspace {
  id: string;
  ownerId: string;
}

/** The results that are also files, `<root>/<app>/sessions|teams/<id>/.agent/mcp/<call>[-n][.<owner>].<type>`. */
@Injectable()
export class ResultFiles implements OnApplicationBootstrap {
  private readonly folders: ResultFolders;
  private readonly writers = new FileWriters(WRITERS);
  private readonly removals = new RemovalLane();

  constructor(
    configuration: Configuration,
    apps: AppDirectory,
    private readonly ids: Ids,
    private readonly logger: Logger,
  ) {
    this.folders = new ResultFolders(resolve(configuration.workspacesDir), apps);
  }

  /** The service works without the folder, so that it is only said that it can't be written. */
  async onApplicationBootstrap(): Promise<void> {
    const { root } = this.folders;
    try {
      if (await within(WORKSPACE_LIMIT_MS, this.probe())) return;
      this.logger.warn('result_files.folder_silent', { folder: root, limitMs: WORKSPACE_LIMIT_MS });
    } catch (error) {
      this.logger.warn('result_files.folder_unusable', { folder: root }, error);
    }
  }

  /**
   * Writes every part, or nothing: undefined when that failed or took more than 4 s, which is logged.
   * Never rejects.
   */
  async write(call: FiledCall, contents: FileContent[]): Promise<FiledResult | undefined> {
    const stop = new AbortController();
    let filed: FiledResult | undefined;
    const work = this.writers.run(async () => {
      filed = await this.store(call, contents, stop.signal);
    });
    try {
      if (await within(WORKSPACE_LIMIT_MS, work)) return filed;
      this.logger.warn('result_files.too_slow', { callId: call.id, limitMs: WORKSPACE_LIMIT_MS });
    } catch (error) {
      this.logger.warn('result_files.not_written', { callId: call.id }, error);
    }
    // Whatever is still going on takes back what it has done.
    stop.abort();
    return undefined;
  }

  /**
   * Removes the files of some calls of one target, whole and half-written ones, whoever wrote them.
   * Rejects when they can't be removed.
   * @throws WorkspaceSilentError when that took more than 4 s.
   */
  async remove(workspace: Workspace, callIds: string[]): Promise<void> {
    await this.removeFrom(workspace, isOfAny(callIds));
  }

  /** Removes what this process wrote for the call; rejects as `remove` does. */
  async takeBack(call: FiledCall): Promise<void> {
    await this.removeFrom(call, isWrittenByAny([call]));
  }

  /**
   * Removes what the owners of some calls of one workspace wrote that can't tell of it any more: as the first
   * ones, or as ones that took a call over. Whoever took it from there writes under other names. Rejects as
   * `remove` does, after `limitMs`.
   */
  async removeLeft(workspace: Workspace, calls: LeftCall[], limitMs: number): Promise<void> {
    const writers = calls.flatMap(({ id, ownerId }) => [{ id }, { id, takenBy: ownerId }]);
    await this.removeFrom(workspace, isWrittenByAny(writers), limitMs);
  }

  private async removeFrom(
    workspace: Workspace,
    isMeant: (name: string) => boolean,
    limitMs?: number,
  ): Promise<void> {
    await this.removals.run(async (signal) => {
      const folder = await this.folders.find(workspace);
      try {
        await folder?.remove(isMeant, signal);
      } finally {
        await folder?.close();
      }
    }, limitMs);
  }

  private async store(
    call: FiledCall,
    contents: FileContent[],
    signal: AbortSignal,
  ): Promise<FiledResult> {
    signal.throwIfAborted();
    const folder = await this.folders.open(call);
    try {
      const files: ResultFile[] = [];
      for (const content of contents.slice(0, MAX_FILES))
        files.push(await this.storeOne(folder, call, content, signal));
      await folder.sync();
      signal.throwIfAborted();
      return toFiledResult(
        files,
        contents.map(({ isText }) => isText),
      );
    } catch (error) {
      await folder.remove(isWrittenByAny([call]));
      throw error;
    } finally {
      await folder.close();
    }
  }

  /** Under another name first, so that nobody ever sees half of a file. */
  private async storeOne(
    folder: WorkspaceFolder,
    call: FiledCall,
    content: FileContent,
    signal: AbortSignal,
  ): Promise<ResultFile> {
    const { part } = content;
    const { extension, body } = content.read();
    const name = fileName(call, part, extension);
    const temporary = temporaryName(call, this.ids.uuid());
    await folder.create(temporary, body, signal);
    signal.throwIfAborted();
    await folder.rename(temporary, name);
    return { path: [...RESULT_FOLDER, name].join('/'), bytes: Buffer.byteLength(body) };
  }

  private async probe(): Promise<void> {
    const folder = await WorkspaceFolder.openRoot(this.folders.root);
    const name = `.${toPublicId('ins', this.ids.uuid())}.tmp`;
    try {
      await folder.create(name, '', AbortSignal.timeout(WORKSPACE_LIMIT_MS));
      await folder.remove((one) => one === name);
    } finally {
      await folder.close();
    }
  }
}
