import { Injectable } from '@nestjs/common';
import { Logger } from '../../common/logger.js';
import { DatabaseRetry } from '../../database/database-retry.js';
import { Database } from '../../database/database.js';
import type { FiledResult } from '../../delivery/files/filed-result.js';
import { ResultFiles } from '../../delivery/files/result-files.js';
import { TargetRepository } from '../../targets/target.repository.js';
import { BackgroundCallRepository } from '../background-call.repository.js';
import { contentsToFile } from './contents-to-file.js';
import type { Verdict } from '../in-flight/in-flight-call.js';
import type { OwnCall } from '../in-flight/own-call.js';

/** Files results before their calls end, so that a message which names a file is true. */
@Injectable()
export class ResultFiling {
  constructor(
    private readonly files: ResultFiles,
    private readonly database: Database,
    private readonly targets: TargetRepository,
    private readonly calls: BackgroundCallRepository,
    private readonly retry: DatabaseRetry,
    private readonly logger: Logger,
  ) {}

  /** Answers the verdict with the files; as it is where none are needed or none could be written. */
  async file(call: OwnCall, verdict: Verdict): Promise<Verdict> {
    if (verdict === 'interrupt' || !verdict.ending.result) return verdict;
    const { ending } = verdict;
    const contents = contentsToFile(verdict.ending.result);
    if (contents.length === 0) return verdict;
    const files = (await this.files.write(call, contents)) ?? null;
    return { ...verdict, ending: { ...ending, result: { ...verdict.ending.result, files } } };
  }

  /** Takes the files back if the call ended in another way, once the database can tell. Never rejects. */
  async discardUnlessRecorded(call: OwnCall, verdict: Verdict): Promise<void> {
    const files = verdict === 'interrupt' ? null : verdict.ending.result?.files;
    if (!files) return;
    const { id: callId } = call;
    try {
      const isRecorded = await this.retry.whileAway(() => this.isRecorded(call, files), {
        onAway: (error) => this.logger.warn('result_files.end_unknown', { callId }, error),
      });
      if (!isRecorded) await this.files.takeBack(call);
    } catch (error) {
      this.logger.warn('result_files.left_behind', { callId }, error);
    }
  }

  /** With these files. The lock waits for a commit of ours whose outcome is unknown. */
  private async isRecorded({ id, targetId }: OwnCall, { main }: FiledResult): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      await this.targets.lockById(tx, targetId);
      return (await this.calls.find(tx, id))?.result?.files?.main === main;
    });
  }
}
