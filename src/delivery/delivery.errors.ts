import { DomainError } from '../common/domain-error.js';

/** The app's messages are sent to its URL, so there is nothing to ask for. */
export class DeliveryByWebhookError extends DomainError {
  readonly code = 'delivery_by_webhook';

  constructor() {
    super(
      'The messages of this app are sent to its webhook; delivery.mode "pull" lets them be asked for.',
    );
  }
}
