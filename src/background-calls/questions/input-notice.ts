import type { InputNotice } from '../../delivery/input-notice.js';
import type { BackgroundCall } from '../background-call.js';
import { purposeOf } from '../call-notice.js';
import type { StorableQuestion } from './input-question.js';
import { isUsableSchema } from './input-schema.js';

/** What a call has to tell that needs input, taken at the moment it asks. */
export function toInputNotice(
  call: BackgroundCall,
  { message, schema: text }: StorableQuestion,
  askedAt: Date,
): InputNotice {
  const schema = JSON.parse(text) as Record<string, unknown>;
  const startedAt = call.startedAt ?? call.createdAt;
  const deadlineAt = call.deadlineAt?.toISOString() ?? null;
  return {
    ...purposeOf(call),
    status: 'input_required',
    startedAt: startedAt.toISOString(),
    askedAt: askedAt.toISOString(),
    durationMs: Math.max(0, askedAt.getTime() - startedAt.getTime()),
    inputRequest: { sequence: call.questions, message, schema, deadlineAt },
    isChecked: isUsableSchema(schema),
  };
}
