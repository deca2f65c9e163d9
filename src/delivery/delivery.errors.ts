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

/** A message that has reached its receiver can't be kept from it any more. */
export class MessageDeliveredError extends DomainError {
  readonly code = 'message_delivered';

  constructor() {
    super('The message is delivered: it can not be discarded, but sent again.');
  }
}

/** Somebody has decided that nobody is told; that is final. */
export class MessageDiscardedError extends DomainError {
  readonly code = 'message_discarded';

  constructor() {
    super('The message was discarded, for good: read the results of its calls instead.');
  }
}
