import {
  JSONRPCNotificationSchema,
  ProgressNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

interface MaybeMessage {
  id?: unknown;
  method?: unknown;
  params?: { progressToken?: unknown };
}

/**
 * Which of the messages that came together are progress that nobody needs to see: more of it follows for the
 * same request before anything was answered. It is looked at before the SDK does, whose handling takes a
 * hundred times as long. What is not known to be a notification or a request counts as an answer.
 */
export function overtakenProgress(messages: readonly unknown[]): ReadonlySet<number> {
  const overtaken = new Set<number>();
  const followed = new Set<string>();
  for (let n = messages.length - 1; n >= 0; n--) {
    const { id, method, params } = (messages[n] ?? {}) as MaybeMessage;
    if (typeof method !== 'string') followed.clear();
    if (method !== 'notifications/progress' || id !== undefined) continue;
    const token = tokenText(params?.progressToken);
    if (token === undefined) continue;
    if (followed.has(token)) overtaken.add(n);
    else if (isProgress(messages[n])) followed.add(token);
  }
  return overtaken;
}

/** The SDK takes digits for the number. Undefined: it is no token, and may be anything. */
function tokenText(token: unknown): string | undefined {
  return typeof token === 'string' || typeof token === 'number' ? String(token) : undefined;
}

/** What the SDK would not take overtakes nothing. */
function isProgress(message: unknown): boolean {
  const isNotification = JSONRPCNotificationSchema.safeParse(message).success;
  return isNotification && ProgressNotificationSchema.safeParse(message).success;
}
