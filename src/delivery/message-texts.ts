import type { CallErrorCode } from '../common/call-error-code.js';
import type { CallNotice } from './call-notice.js';

/** The fixed words of a message. What comes from outside is quoted before it gets here. */
export interface MessageTexts {
  heading(
    status: CallNotice['status'],
    call: { server: string; tool: string; id: string; duration: string },
  ): string;
  /** That nobody typed this and that it permits nothing. */
  systemMessage: string;
  purpose(tool: string, argumentsInShort: string): string;
  age(startedAt: string, ago: string): string;
  completed: string;
  cancelled: string;
  /** Why the call failed. */
  reasons: Readonly<Record<CallErrorCode, string>>;
  reason(reason: string): string;
  detail(message: string): string;
  outcomeUnknown: string;
  result: string;
  noText: string;
  onlyBeginning(resultBytes: number): string;
}
