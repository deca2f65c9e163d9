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
  onlyBeginning(result: { bytes: number; isKeptWhole: boolean; isFiled: boolean }): string;
  filed: string;
  file(path: string, bytes: number): string;
  /** Files that are not named; their names begin with the id of the call. */
  moreFiles(count: number, id: string): string;
  /** Parts of the result that are no files. */
  moreParts(count: number): string;
}
