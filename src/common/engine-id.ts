/** 1–128 characters that need no escaping in a URL path; `.` and `..` would change the path. */
const ENGINE_ID_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9._:@-]{1,128}$/;

/** Whether the text can be an id that an engine made: of a session, team, bot, subtask, task or turn. */
export function isEngineId(text: unknown): text is string {
  return typeof text === 'string' && ENGINE_ID_PATTERN.test(text);
}
