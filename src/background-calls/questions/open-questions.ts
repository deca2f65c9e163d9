import { Injectable } from '@nestjs/common';
import { Logger } from '../../common/logger.js';
import { outsideRequestContext } from '../../common/request-context.js';
import { ChannelListener } from '../../database/channel-listener.js';
import { DatabaseRetry } from '../../database/database-retry.js';
import { Database } from '../../database/database.js';
import { InstanceLease } from '../../instances/instance-lease.js';
import type { BackgroundCall } from '../background-call.js';
import type { WorkAnswer, WorkQuestion } from '../call-work.js';
import { InputRequestRegistry } from './input-request.registry.js';
import { InputRequestRepository } from './input-request.repository.js';

interface OpenQuestion {
  sequence: number;
  settle(answer: WorkAnswer | undefined): void;
}

/**
 * The questions with which calls of this process wait. An answer is durable before anybody here hears of
 * it; what was told to nobody is found at the next heartbeat and when the listener is back.
 */
@Injectable()
export class OpenQuestions {
  private readonly open = new Map<string, OpenQuestion>();
  /** The last question of each call that asks: the next one waits for it. */
  private readonly lastOf = new Map<string, Promise<unknown>>();
  /** Its number, of each call that has asked here. */
  private readonly lastNumber = new WeakMap<BackgroundCall, number>();

  constructor(
    private readonly registry: InputRequestRegistry,
    private readonly requests: InputRequestRepository,
    private readonly database: Database,
    private readonly retry: DatabaseRetry,
    private readonly logger: Logger,
    lease: InstanceLease,
    listener: ChannelListener,
  ) {
    listener.on('bgc_input_answered', (callId) => {
      if (this.open.has(callId)) void this.look();
    });
    listener.onReconnect(() => void this.look());
    lease.onBeat(() => void this.look());
  }

  /**
   * Asks once the call's earlier questions are settled. Undefined: nobody will answer, because the
   * upstream does not want to know any more or `over` has aborted.
   */
  ask(
    call: BackgroundCall,
    question: WorkQuestion,
    over: AbortSignal,
  ): Promise<WorkAnswer | undefined> {
    const { id } = call;
    const earlier = this.lastOf.get(id) ?? Promise.resolve();
    const answer = outsideRequestContext(() =>
      earlier.then(() => this.askNow(call, question, over)),
    );
    this.lastOf.set(id, answer);
    return answer.finally(() => {
      if (this.lastOf.get(id) === answer) this.lastOf.delete(id);
    });
  }

  private async askNow(
    call: BackgroundCall,
    question: WorkQuestion,
    over: AbortSignal,
  ): Promise<WorkAnswer | undefined> {
    const { withdrawn } = question;
    if (withdrawn?.aborted) return undefined;
    const sequence = this.nextNumber(call);
    if (!(await this.isAsked(call, sequence, question, over)) || over.aborted) return undefined;
    const withdraw = (): void =>
      void this.persist(call.id, over, () => this.registry.withdraw(call, sequence)).then(() =>
        this.look(),
      );
    if (withdrawn?.aborted) withdraw();
    withdrawn?.addEventListener('abort', withdraw, { once: true });
    const answer = await this.answerTo(call.id, sequence, over);
    withdrawn?.removeEventListener('abort', withdraw);
    return answer;
  }

  /**
   * Given before the first try: so that a further one finds this question and no other. One that was never
   * written leaves a gap.
   */
  private nextNumber(call: BackgroundCall): number {
    const number = (this.lastNumber.get(call) ?? call.questions) + 1;
    this.lastNumber.set(call, number);
    return number;
  }

  /** Whether the question is written, which has to be known before the call can ask the next one. */
  private async isAsked(
    call: BackgroundCall,
    sequence: number,
    question: WorkQuestion,
    over: AbortSignal,
  ): Promise<boolean> {
    const look = (): Promise<boolean> => this.registry.isAsked(call, sequence);
    const ask = (): Promise<boolean> => this.registry.ask(call, sequence, question);
    const isAsked = await this.persist(call.id, over, () =>
      question.withdrawn?.aborted ? look() : ask(),
    );
    // The try that was refused says nothing about an earlier one.
    return isAsked ?? (await this.persist(call.id, over, look)) ?? false;
  }

  private answerTo(
    callId: string,
    sequence: number,
    over: AbortSignal,
  ): Promise<WorkAnswer | undefined> {
    return new Promise((resolve) => {
      const giveUp = (): void => settle(undefined);
      const settle = (answer: WorkAnswer | undefined): void => {
        over.removeEventListener('abort', giveUp);
        this.open.delete(callId);
        resolve(answer);
      };
      over.addEventListener('abort', giveUp, { once: true });
      this.open.set(callId, { sequence, settle });
      // It may have been answered before anybody waited here.
      void this.look();
    });
  }

  /** Tries for as long as the database is away, until `stop`. */
  private async persist<T>(
    callId: string,
    stop: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    if (stop.aborted) return undefined;
    return this.retry.orGiveUp(work, {
      onAway: (error) => this.logger.warn('background_call.question_delayed', { callId }, error),
      onRefused: (error) =>
        this.logger.error('background_call.question_refused', { callId }, error),
      stop,
    });
  }

  private async look(): Promise<void> {
    if (this.open.size === 0) return;
    const asked = new Map([...this.open].map(([callId, { sequence }]) => [callId, sequence]));
    try {
      for (const { callId, sequence, answer } of await this.requests.listSettled(
        this.database,
        asked,
      )) {
        const open = this.open.get(callId);
        if (open?.sequence === sequence) open.settle(answer);
      }
    } catch (error) {
      this.logger.warn('background_call.answers_not_read', { calls: asked.size }, error);
    }
  }
}
