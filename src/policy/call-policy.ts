import type { CallMode } from '../common/call-mode.js';
import type { OnClientTimeout, OnLimit, SettingsTree } from '../settings/settings-tree.js';

/** Who decided a field of the policy. */
type PolicyOrigin = 'settings' | 'tool' | 'request' | 'parent_call';

/** What one call asks for itself; bounded by what the administrator decided. */
export interface PolicyWish {
  mode?: CallMode;
  /** Seconds, 0 < n ≤ 2,145,600 (596 h). */
  autoAfterSec?: number;
  /** Hours, 0 < n ≤ 596. */
  maxHours?: number;
  onLimit?: OnLimit;
}

/** Resolved once per call and stored on it: a later change of settings does not disturb the call. */
export interface CallPolicy {
  mode: CallMode;
  autoAfterSec: number | null;
  maxHours: number;
  idleTimeoutSec: number | null;
  foregroundTimeoutSec: number;
  foregroundMaxSec: number;
  onLimit: OnLimit;
  onClientTimeout: OnClientTimeout;
  inlineChars: number;
  maxBytes: number;
  origins: Record<'mode' | 'autoAfterSec' | 'maxHours' | 'onLimit', PolicyOrigin>;
}

export interface PolicySources {
  settings: SettingsTree;
  /** What the administrator said about the tool. */
  toolMode: CallMode | undefined;
  wish: PolicyWish;
  /** A call made inside another call stays attached to it: foreground only. */
  hasParentCall: boolean;
}

/** Each field by itself: the call's wish, else the tool, else the settings. */
export function resolvePolicy({
  settings,
  toolMode,
  wish,
  hasParentCall,
}: PolicySources): CallPolicy {
  const { backgroundCalls, foreground, results } = settings;
  const [mode, modeOrigin] = resolveMode(toolMode, wish.mode, hasParentCall);
  return {
    mode,
    autoAfterSec: wish.autoAfterSec ?? backgroundCalls.autoAfterSec,
    maxHours: wish.maxHours ?? backgroundCalls.maxHours,
    idleTimeoutSec: backgroundCalls.idleTimeoutSec,
    foregroundTimeoutSec: foreground.timeoutSec,
    foregroundMaxSec: foreground.maxWithProgressSec,
    onLimit: wish.onLimit ?? backgroundCalls.onLimit,
    onClientTimeout: foreground.onClientTimeout,
    inlineChars: results.inlineChars,
    maxBytes: results.maxBytes,
    origins: {
      mode: modeOrigin,
      autoAfterSec: wish.autoAfterSec === undefined ? 'settings' : 'request',
      maxHours: wish.maxHours === undefined ? 'settings' : 'request',
      onLimit: wish.onLimit === undefined ? 'settings' : 'request',
    },
  };
}

/** A wish never opts in a tool that the administrator excluded. */
function resolveMode(
  toolMode: CallMode | undefined,
  wished: CallMode | undefined,
  hasParentCall: boolean,
): [CallMode, PolicyOrigin] {
  if (hasParentCall) return ['never', 'parent_call'];
  if (toolMode === 'never') return ['never', 'tool'];
  if (wished !== undefined) return [wished, 'request'];
  if (toolMode !== undefined) return [toolMode, 'tool'];
  return ['auto', 'settings'];
}
