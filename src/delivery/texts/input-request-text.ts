import { toPublicId } from '../../common/ids.js';
import { cutText } from '../../common/storable-text.js';
import { fenceForeign } from './foreign-text.js';
import { fieldLines } from './input-field-text.js';
import type { InputNotice } from '../input-notice.js';
import { secondOf } from './instant-text.js';
import type { MessageTexts } from './message-texts.js';

const MAX_QUESTION_CHARS = 4_000;

/** What a call asks, in short, and how it is answered. */
export function inputRequestLines(texts: MessageTexts, notice: InputNotice): string[] {
  const { message, schema, deadlineAt } = notice.inputRequest;
  const fields = fieldLines(texts, schema);
  const question =
    message.length <= MAX_QUESTION_CHARS ? message : `${cutText(message, MAX_QUESTION_CHARS)}…`;
  return [
    texts.waitsForInput(deadlineAt === null ? undefined : secondOf(deadlineAt)),
    texts.question,
    fenceForeign(question),
    ...(fields.length === 0 ? [] : [texts.fields, fenceForeign(fields.join('\n'))]),
    ...(notice.isChecked ? [] : [texts.uncheckedAnswer]),
    texts.howToAnswer(toPublicId('bgc', notice.callId)),
  ];
}
