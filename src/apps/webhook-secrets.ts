import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type SealedText,
  SecretBox,
  SecretNotOpenedError,
  type SecretPlace,
} from '../secrets/secret-box.js';

/** By which receivers tell secrets of this kind, as Standard Webhooks says. */
const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** What webhooks of an app are signed with. */
export interface WebhookSecrets {
  /** `whsec_` and base64; undefined: there is none, or it can't be opened. */
  current: string | undefined;
  /** The one before it, which signs beside it until `oldUntil`. */
  old: string | undefined;
  oldUntil: Date | null;
  /** Why the secret that is stored can't be opened. */
  unopened: string | undefined;
}

/** The columns as they are stored. */
export interface SealedWebhookSecrets {
  secret: SealedText | null;
  oldSecret: SealedText | null;
  oldSecretUntil: Date | null;
}

/** Secrets of webhooks on their way to the database and back: there they are sealed. */
@Injectable()
export class WebhookSecretBox {
  constructor(private readonly box: SecretBox) {}

  /** A new one, as its receiver needs it. */
  make(): string {
    return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
  }

  seal(appId: string, secret: string): SealedText {
    return this.box.seal(secret, placeOf(appId));
  }

  open(appId: string, { secret, oldSecret, oldSecretUntil }: SealedWebhookSecrets): WebhookSecrets {
    const current = this.tryOpen(appId, secret);
    const old = this.tryOpen(appId, oldSecret);
    return {
      current: typeof current === 'string' ? current : undefined,
      old: typeof old === 'string' ? old : undefined,
      oldUntil: oldSecretUntil,
      unopened: current instanceof SecretNotOpenedError ? current.message : undefined,
    };
  }

  /** The same secret as the first key seals it; undefined when it has, and when it can't be opened. */
  reseal(appId: string, sealed: SealedText | null): SealedText | undefined {
    if (sealed === null || this.box.isSealedByFirst(sealed)) return undefined;
    const secret = this.tryOpen(appId, sealed);
    return typeof secret === 'string' ? this.seal(appId, secret) : undefined;
  }

  private tryOpen(
    appId: string,
    sealed: SealedText | null,
  ): string | SecretNotOpenedError | undefined {
    if (sealed === null) return undefined;
    try {
      return this.box.open(sealed, placeOf(appId));
    } catch (error) {
      if (error instanceof SecretNotOpenedError) return error;
      throw error;
    }
  }
}

/** One place for both: when there is a new secret, what was sealed becomes the old one as it is. */
function placeOf(appId: string): SecretPlace {
  return { table: 'apps', rowId: appId, field: 'webhook_secret' };
}
