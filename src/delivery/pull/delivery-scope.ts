import { appOfTargetKey, targetKey } from '../../targets/target-address.js';

/** Whose messages are asked for: of one session, or of all sessions of the app. */
export interface DeliveryScope {
  appId: string;
  sessionId?: string;
}

/** One text for a scope, for maps. */
export function scopeKey({ appId, sessionId }: DeliveryScope): string {
  return sessionId === undefined ? appId : targetKey(appId, { type: 'session', sessionId });
}

/** The scopes to which a target belongs, by the key of the target. */
export function scopeKeysOfTarget(key: string): string[] {
  return [key, appOfTargetKey(key)];
}
