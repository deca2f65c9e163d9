import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MessageDiscard } from '../src/delivery/administration/message-discard.js';
import { MessageRedelivery } from '../src/delivery/administration/message-redelivery.js';
import { Acknowledgements } from '../src/delivery/acknowledgements.js';
import { toPublicId } from '../src/common/ids.js';
import { MessageDeliveredError, MessageDiscardedError } from '../src/delivery/delivery.errors.js';
import { MessageClaims } from '../src/delivery/message-claims.js';
import { TurnService } from '../src/targets/turn.service.js';
import { DeliveryService } from './support/delivery-service.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const RUNS = 25;
const MAX_STEPS = 30;

type Step =
  | { do: 'end call' | 'claim' | 'visibility over' | 'turn runs out' }
  | { do: 'start turn' | 'end turn' | 'touch turn'; turnId: string }
  | { do: 'acknowledge'; turnId?: string }
  /** Of the messages that were handed out until then, the oldest first. */
  | { do: 'send again' | 'discard'; which: number };

const turnId = fc.constantFrom('a', 'b', 'c');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'end call' }) },
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'claim' }) },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'visibility over' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'turn runs out' }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('start turn' as const, 'end turn' as const, 'touch turn' as const),
      turnId,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('acknowledge' as const),
      turnId: fc.option(turnId, { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('send again' as const, 'send again' as const, 'discard' as const),
      which: fc.nat({ max: MAX_STEPS }),
    }),
  },
);

/** The columns hold milliseconds and round up: now() itself may be a little in the future there. */
const JUST_NOW = "now() - interval '1 ms'";

let database: TestDatabase;
let service: DeliveryService;
let sessions = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await DeliveryService.start(database.url);
});
afterAll(async () => {
  await service?.close();
  await database.drop();
});

/** One session, driven step by step beside the simplest model of what may happen. */
class Scenario {
  readonly sessionId = `session-${++sessions}`;
  readonly ended: string[] = [];
  readonly told: string[] = [];
  readonly bodies = new Map<string, string>();
  private readonly overTurns = new Set<string>();
  private turn: string | undefined;
  private out: { id: string; hidden: boolean } | undefined;
  /** Sent again while another one is out. */
  private readonly held = new Set<string>();
  private readonly discarded = new Set<string>();
  private readonly address = { type: 'session', sessionId: this.sessionId } as const;

  async run(next: Step): Promise<void> {
    const turns = service.get(TurnService);
    switch (next.do) {
      case 'end call':
        this.ended.push(await service.endCall(this.sessionId));
        return;
      case 'claim':
        return this.claim();
      case 'start turn':
        await turns.start(service.appId, this.address, next.turnId);
        return this.turnStarts(next.turnId);
      case 'end turn':
        await turns.end(service.appId, this.address, next.turnId, false);
        this.overTurns.add(next.turnId);
        if (this.turn === next.turnId) this.turn = undefined;
        return;
      case 'touch turn':
        expect(await turns.touch(service.appId, this.address, next.turnId)).toBe(
          this.turn === next.turnId,
        );
        return;
      case 'turn runs out':
        await this.update(`turn_expires_at = ${JUST_NOW}`, 'turn_id IS NOT NULL');
        if (this.turn !== undefined) this.overTurns.add(this.turn);
        this.turn = undefined;
        return;
      case 'visibility over':
        await this.update(`hidden_until = ${JUST_NOW}`, 'hidden_until IS NOT NULL');
        if (this.out) this.out.hidden = false;
        return;
      case 'acknowledge':
        return this.acknowledge(next.turnId);
      case 'send again':
        return this.sendAgain(this.known(next.which));
      case 'discard':
        return this.discard(this.known(next.which));
    }
  }

  async finish(): Promise<void> {
    if (this.turn !== undefined) await this.run({ do: 'end turn', turnId: this.turn });
    for (let round = 0; round <= this.ended.length + this.bodies.size; round++) {
      await this.run({ do: 'visibility over' });
      await this.run({ do: 'claim' });
      await this.run({ do: 'acknowledge' });
    }
  }

  private async claim(): Promise<void> {
    const scope = { appId: service.appId, sessionId: this.sessionId };
    const messages = await service.get(MessageClaims).claim(scope);
    const isAnythingLeft = this.out !== undefined || this.told.length < this.ended.length;
    const mayComeNow = this.turn === undefined && !this.out?.hidden && isAnythingLeft;
    expect(messages).toHaveLength(mayComeNow ? 1 : 0);
    for (const { id, body } of messages) {
      if (this.out) expect(id).toBe(this.out.id);
      if (!this.bodies.has(id)) this.told.push(...callsOf(body));
      expect(this.bodies.get(id) ?? body).toBe(body);
      this.bodies.set(id, body);
      this.out = { id, hidden: true };
    }
  }

  private async acknowledge(opensTurn: string | undefined): Promise<void> {
    const known = this.out?.id ?? [...this.bodies.keys()].at(-1);
    if (known === undefined) return;
    await service.get(Acknowledgements).acknowledge(service.appId, known, opensTurn);
    if (this.out === undefined) return;
    this.goOn();
    if (opensTurn !== undefined) this.turnStarts(opensTurn);
  }

  private async sendAgain(id: string | undefined): Promise<void> {
    if (id === undefined) return;
    const again = service.get(MessageRedelivery).redeliver(id);
    if (this.discarded.has(id)) return expect(again).rejects.toThrow(MessageDiscardedError);
    const { heldBack } = await again;
    if (id !== this.out?.id) {
      if (this.out === undefined) this.out = { id, hidden: false };
      else this.held.add(id);
    }
    expect(heldBack).toBe(this.held.has(id));
  }

  private async discard(id: string | undefined): Promise<void> {
    if (id === undefined) return;
    const given = service.get(MessageDiscard).discard(id);
    const isOver = id !== this.out?.id && !this.held.has(id) && !this.discarded.has(id);
    if (isOver) return expect(given).rejects.toThrow(MessageDeliveredError);
    expect((await given).state).toBe('discarded');
    this.discarded.add(id);
    this.held.delete(id);
    if (id === this.out?.id) this.goOn();
  }

  /** What is held back comes next, the oldest first. */
  private goOn(): void {
    const next = [...this.bodies.keys()].find((id) => this.held.has(id));
    this.out = next === undefined ? undefined : { id: next, hidden: false };
    if (next !== undefined) this.held.delete(next);
  }

  private known(which: number): string | undefined {
    return [...this.bodies.keys()][which % Math.max(1, this.bodies.size)];
  }

  private turnStarts(id: string): void {
    if (this.overTurns.has(id)) return;
    if (this.turn !== undefined && this.turn !== id) this.overTurns.add(this.turn);
    this.turn = id;
  }

  private async update(change: string, condition: string): Promise<void> {
    await service.database.query(
      `UPDATE targets SET ${change} WHERE session_id = $1 AND ${condition}`,
      [this.sessionId],
    );
  }
}

function callsOf(body: string): string[] {
  return (JSON.parse(body) as { notifications: { callId: string }[] }).notifications.map(
    ({ callId }) => callId,
  );
}

it('tells every ended call once, in order, never into a turn, with one body for each message, whatever is sent again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: MAX_STEPS }), async (steps) => {
      const scenario = new Scenario();
      for (const next of steps) await scenario.run(next);
      await scenario.finish();
      expect(scenario.told).toHaveLength(scenario.ended.length);
      expect(scenario.told).toEqual(scenario.ended.map((id) => toPublicId('bgc', id)));
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
}, 60_000);
