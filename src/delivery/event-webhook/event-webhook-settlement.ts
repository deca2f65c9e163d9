import { Injectable } from '@nestjs/common';
import { AppDirectory } from '../../apps/app.directory.js';
import type { App } from '../../apps/app.js';
import { drawChance } from '../../common/backoff.js';
import { Database } from '../../database/database.js';
import { DatabaseRetry, type GiveUpTerms } from '../../database/database-retry.js';
import { Settings } from '../../settings/settings.js';
import { type NextStep, nextStep } from '../sending/next-step.js';
import type { SendResult } from '../sending/send-outcome.js';
import { type DueEvent, EventDeliveryRepository } from './event-delivery.repository.js';

/** Does with an event what follows from its try. */
@Injectable()
export class EventWebhookSettlement {
  constructor(
    private readonly deliveries: EventDeliveryRepository,
    private readonly database: Database,
    private readonly retry: DatabaseRetry,
    private readonly apps: AppDirectory,
    private readonly settings: Settings,
  ) {}

  /**
   * Overtaken, and nothing happens, when the event was claimed again meanwhile (this process was held up),
   * is not wanted any more, or the try is settled already. Undefined when it could not be written down: the
   * event is sent again.
   */
  async settle(
    app: App,
    due: DueEvent,
    result: SendResult,
    terms: GiveUpTerms,
  ): Promise<NextStep | 'overtaken' | undefined> {
    const circumstances = {
      failures: due.failures,
      ageMs: due.ageMs,
      maxAgeHours: this.settings.current.delivery.maxAgeHours,
      isConfiguredAnew: this.apps.byId(app.id)?.events?.url !== app.events?.url,
    };
    const step = nextStep(result.outcome, circumstances, drawChance());
    const settleOnce = async (): Promise<NextStep | 'overtaken'> =>
      (await this.take(due, step)) ? step : 'overtaken';
    return this.retry.orGiveUp(settleOnce, terms);
  }

  /** False: it was overtaken. */
  private async take(due: DueEvent, step: NextStep): Promise<boolean> {
    switch (step.kind) {
      case 'delivered':
      case 'dead':
        return this.deliveries.remove(this.database, due);
      case 'wait': {
        const failures = step.isBusy ? 0 : due.failures + 1;
        return this.deliveries.wait(this.database, due, step.waitMs / 1_000, failures, step.isBusy);
      }
      case 'give_back':
        return this.deliveries.wait(this.database, due, 0, due.failures);
    }
  }
}
