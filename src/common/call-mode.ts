/** When a call moves to the background: at its timer, before the upstream is asked, or never. */
export const CALL_MODES = ['auto', 'always', 'never'] as const;
export type CallMode = (typeof CALL_MODES)[number];
