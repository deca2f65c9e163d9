import type { CallErrorCode } from '../../common/call-error-code.js';
import type { Notice } from '../call-notice.js';

/** The fixed words of a message. What comes from outside is quoted before it gets here. */
export interface MessageTexts {
  heading(
    status: Notice['status'],
    call: { server: string; tool: string; id: string; duration: string },
  ): string;
  /** That nobody typed this and that it permits nothing. */
  systemMessage: string;
  purpose(tool: string, argumentsInShort: string): string;
  age(startedAt: string, ago: string): string;
  completed: string;
  cancelled: string;
  /** Of a call that was still waiting in the queue. */
  cancelledUnstarted: string;
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
  /** `until`: when the call fails if nobody has answered. */
  waitsForInput(until: string | undefined): string;
  question: string;
  /** Stands before the fields of the answer. */
  fields: string;
  field: FieldTexts;
  moreFields(count: number): string;
  /** The schema can't be used: any object is taken. */
  uncheckedAnswer: string;
  howToAnswer(callId: string): string;
}

/** The words that describe a field of an answer. */
export interface FieldTexts {
  required: string;
  optional: string;
  oneOf(choices: string): string;
  severalOf(choices: string): string;
  byDefault(value: string): string;
}
