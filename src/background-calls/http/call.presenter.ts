import { Injectable } from '@nestjs/common';
import { AppDirectory } from '../../apps/app.directory.js';
import { toPublicId } from '../../common/ids.js';
import { toPage } from '../../common/paging.js';
import { Database } from '../../database/database.js';
import { CallDeliveries } from '../../delivery/call-deliveries.repository.js';
import type { BackgroundCall, CallSummary } from '../background-call.js';
import { BackgroundCallDto } from './background-call.dto.js';
import { BackgroundCallSummaryDto } from './background-call-summary.dto.js';
import type { BackgroundCallPageDto } from './background-call-page.dto.js';

/** Shows calls with what became of their messages. */
@Injectable()
export class CallPresenter {
  constructor(
    private readonly database: Database,
    private readonly deliveries: CallDeliveries,
    private readonly apps: AppDirectory,
  ) {}

  async present(call: BackgroundCall): Promise<BackgroundCallDto> {
    const deliveries = await this.deliveries.of(this.database, [call.id]);
    return BackgroundCallDto.from(call, this.nameOf(call.appId), deliveries.get(call.id));
  }

  /** For a call that can't have ended yet. */
  presentRunning(call: BackgroundCall): BackgroundCallDto {
    return BackgroundCallDto.from(call, this.nameOf(call.appId));
  }

  /** @param calls up to `limit + 1` of them */
  async presentPage(calls: CallSummary[], limit: number): Promise<BackgroundCallPageDto> {
    const ids = calls.slice(0, limit).map(({ id }) => id);
    const deliveries = await this.deliveries.of(this.database, ids);
    return toPage(
      calls,
      limit,
      ({ id, createdAt }) => ({ id, createdAt: createdAt.toISOString() }),
      (call) =>
        BackgroundCallSummaryDto.from(call, this.nameOf(call.appId), deliveries.get(call.id)),
    );
  }

  private nameOf(appId: string): string {
    return this.apps.byId(appId)?.name ?? toPublicId('app', appId);
  }
}
