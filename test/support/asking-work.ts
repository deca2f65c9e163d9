import { BackgroundCallRegistry } from '../../src/background-calls/background-call.registry.js';
import type { HandoverPolicy } from '../../src/background-calls/background-call.js';
import type { CallOutcome } from '../../src/background-calls/call-outcome.js';
import type {
  CallWork,
  WorkAnswer,
  WorkListener,
  WorkQuestion,
} from '../../src/background-calls/call-work.js';
import { InFlightCalls } from '../../src/background-calls/in-flight/in-flight-calls.js';
import { toPublicId } from '../../src/common/ids.js';
import { aHandoverRequest } from './a-handover-request.js';
import type { ServiceUnderTest } from './service-fixture.js';

/** Work that asks and ends when the test says so. */
export class AskingWork implements CallWork {
  finish: (outcome: CallOutcome) => void = () => undefined;
  readonly outcome = new Promise<CallOutcome>((resolve) => (this.finish = resolve));
  readonly stops: string[] = [];
  private listener: WorkListener | undefined;

  ask(question: Partial<WorkQuestion> = {}): Promise<WorkAnswer> {
    if (!this.listener) throw new Error('nobody listens');
    return this.listener.onQuestion({ message: 'Which one?', schema: {}, ...question });
  }

  complete(text = 'done'): void {
    this.finish({ kind: 'result', result: { content: [{ type: 'text', text }] } });
  }

  cancel(reason: string): Promise<void> {
    this.stops.push(reason);
    return Promise.resolve();
  }

  attach(listener: WorkListener): void {
    this.listener = listener;
  }

  detach(): void {
    this.stops.push('left');
  }
}

export interface AskingCall {
  /** As the API shows it. */
  id: string;
  /** As the database shows it. */
  uuid: string;
  targetId: number;
  work: AskingWork;
}

/** A background call of the session whose work is in the hands of the test. */
export async function anAskingCall(
  service: Pick<ServiceUnderTest, 'get' | 'sql'>,
  sessionId: string,
  changes: Partial<HandoverPolicy> = {},
): Promise<AskingCall> {
  const [app] = await service.sql<{ id: string }>('SELECT apps.id FROM apps');
  const address = { type: 'session', sessionId } as const;
  const handover = aHandoverRequest({ appId: app?.id ?? '', address });
  const policy = { ...handover.policy, ...changes };
  const moved = await service
    .get(BackgroundCallRegistry)
    .handOver({ ...handover, policy, runningForMs: 0 });
  if (moved.kind !== 'moved') throw new Error(moved.kind);
  const { call } = moved;
  const work = new AskingWork();
  service.get(InFlightCalls).adopt(call, policy, work);
  return { id: toPublicId('bgc', call.id), uuid: call.id, targetId: call.targetId, work };
}
