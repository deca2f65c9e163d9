/** A question of an upstream as it is told and shown. */
interface AskedInput {
  /** The number of the question within its call, from 1. */
  sequence: number;
  message: string;
  /** JSON Schema of the answer's content, as the upstream sent it. */
  schema: Record<string, unknown>;
  /** When the call fails if nobody has answered, RFC 3339. */
  deadlineAt: string | null;
}

/** What a call that needs input has to tell, taken at the moment it asked. */
export interface InputNotice {
  /** UUID. */
  callId: string;
  serverName: string;
  serverTitle: string;
  tool: string;
  status: 'input_required';
  /** The arguments in short, as JSON: what the call was for. */
  argumentsPreview: string;
  startedAt: string;
  askedAt: string;
  /** Milliseconds from the start to the question. */
  durationMs: number;
  traceparent: string | null;
  inputRequest: AskedInput;
  /** False: the schema can't be used, so any object is taken for an answer. */
  isChecked: boolean;
}
