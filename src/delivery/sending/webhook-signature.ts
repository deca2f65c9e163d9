import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** What is signed of a webhook: https://github.com/standard-webhooks/standard-webhooks */
interface SignedParts {
  id: string;
  /** Seconds since 1970. */
  timestamp: number;
  body: string;
}

/** The value of `webhook-signature`: one signature for each secret, separated by spaces. */
export function webhookSignature(
  secrets: readonly string[],
  { id, timestamp, body }: SignedParts,
): string {
  const signed = `${id}.${timestamp}.${body}`;
  return secrets.map((secret) => `v1,${hmac(secret, signed)}`).join(' ');
}

function hmac(secret: string, text: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(text).digest('base64');
}
