import type { Locale } from '../common/locale.js';

/** What a call does when its session or team already has as many running background calls as it may. */
export const ON_LIMIT = ['wait', 'queue', 'reject'] as const;
export type OnLimit = (typeof ON_LIMIT)[number];

/** What happens to a call that named its turn and whose caller dropped the connection. */
export const ON_CLIENT_TIMEOUT = ['background', 'cancel'] as const;
export type OnClientTimeout = (typeof ON_CLIENT_TIMEOUT)[number];

/** The runtime settings, whole. Durations are in the unit that the name says and may be fractions. */
export interface SettingsTree {
  backgroundCalls: {
    /** Seconds in the foreground before the handover; null: never by itself. */
    autoAfterSec: number | null;
    maxPerTarget: number;
    maxHours: number;
    /** Seconds without progress before a background call fails; null: off. */
    idleTimeoutSec: number | null;
    onLimit: OnLimit;
    maxRunning: number | null;
    maxPerAgent: number | null;
  };
  foreground: {
    /** Seconds without an answer or progress. */
    timeoutSec: number;
    /** Seconds in all, however much progress arrives. */
    maxWithProgressSec: number;
    onClientTimeout: OnClientTimeout;
  };
  results: { inlineChars: number; maxBytes: number };
  turns: { idleTimeoutSec: number };
  upstreams: { idleCloseSec: number };
  delivery: { visibilitySec: number; maxAgeHours: number };
  retention: { days: number };
  messages: { locale: Locale };
}

export const DEFAULT_SETTINGS: SettingsTree = {
  backgroundCalls: {
    autoAfterSec: 180,
    maxPerTarget: 3,
    maxHours: 24,
    idleTimeoutSec: null,
    onLimit: 'wait',
    maxRunning: null,
    maxPerAgent: null,
  },
  foreground: { timeoutSec: 600, maxWithProgressSec: 1_200, onClientTimeout: 'background' },
  results: { inlineChars: 8_000, maxBytes: 52_428_800 },
  turns: { idleTimeoutSec: 900 },
  upstreams: { idleCloseSec: 600 },
  delivery: { visibilitySec: 60, maxAgeHours: 24 },
  retention: { days: 30 },
  messages: { locale: 'zh-CN' },
};
