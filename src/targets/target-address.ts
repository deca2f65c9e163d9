/** Who is told the result of a call, in the engine's own ids, which are unique within an app. */
export type TargetAddress =
  { type: 'session'; sessionId: string } | { type: 'bot'; teamId: string; botId: string };

/** One text for a target, for maps and NOTIFY; no engine id contains a slash. */
export function targetKey(appId: string, address: TargetAddress): string {
  return address.type === 'session'
    ? `${appId}/session/${address.sessionId}`
    : `${appId}/bot/${address.teamId}/${address.botId}`;
}

/** The app of a target's key. */
export function appOfTargetKey(key: string): string {
  return key.slice(0, key.indexOf('/'));
}
