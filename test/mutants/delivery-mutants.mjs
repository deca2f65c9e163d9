/** What the delivery of messages must not do: see `mutant-table.mjs`. */
const CLAIMS = 'src/delivery/message-claims.ts';
const DELIVERABLE = 'src/delivery/deliverable.repository.ts';
const NOTIFICATIONS = 'src/delivery/notification.repository.ts';
const SENDER = 'src/delivery/webhook/webhook-delivery.ts';
const TRIED = 'src/delivery/webhook/tried-message.repository.ts';
const PULL = 'test/delivery.e2e-spec.ts';
const WEBHOOKS = 'test/webhooks.e2e-spec.ts';
const IS_TOLD = 'messages of a session tell of a call that ended while no turn runs';
const IS_SENT = 'a webhook goes to bots too';
const COMES_AGAIN =
  'a webhook that fails comes again after 1, 2 … s, with the same id, the same bytes and a signature of its own';

export const DELIVERY_MUTANTS = {
  'running turn not looked at': {
    why: 'A message would fall into a turn that works on something else.',
    file: DELIVERABLE,
    piece: '`(targets.turn_expires_at IS NULL OR targets.turn_expires_at <= now())`',
    becomes: '`true`',
    spec: PULL,
    caughtBy:
      'messages of a session wait while the turn runs, and come as one when it ends, oldest first',
    lives: IS_TOLD,
  },
  'order ignored': {
    why: 'The newest end would be told before the ones that it may rest on.',
    file: NOTIFICATIONS,
    piece: 'ORDER BY waiting.target_id, waiting.sequence',
    becomes: 'ORDER BY waiting.target_id, waiting.sequence DESC',
    spec: PULL,
    caughtBy:
      'messages of a session wait while the turn runs, and come as one when it ends, oldest first',
    lives: IS_TOLD,
  },
  'newest told first where not all have room': {
    why: 'What is left for the next message would be the oldest.',
    file: NOTIFICATIONS,
    piece: 'ORDER BY notifications.sequence LIMIT $2',
    becomes: 'ORDER BY notifications.sequence DESC LIMIT $2',
    spec: PULL,
    caughtBy: 'messages of a session are bounded: what has no room comes next, oldest first',
    lives: IS_TOLD,
  },
  'batch loses a notification': {
    why: 'What has no room in the message would count as told.',
    file: 'src/delivery/message-writer.ts',
    piece: 'notices: told,',
    becomes: 'notices: waiting,',
    spec: 'test/input-required.e2e-spec.ts',
    caughtBy:
      'a background call that needs input of one service tells ends and questions in messages of their own, in their order',
    lives:
      'a background call that needs input of one service shows the question, tells it in a message, passes the answer on unchanged and ends',
  },
  'body made anew at each try': {
    why: 'Receivers tell by the bytes and the signature that it is the same message.',
    file: CLAIMS,
    piece: '[...again, ...fresh].map((message)',
    becomes: `[
      ...again.map((message) => ({
        ...message,
        body: JSON.stringify({ ...JSON.parse(message.body), createdAt: targets[0]?.now }),
      })),
      ...fresh,
    ].map((message)`,
    spec: PULL,
    caughtBy:
      'messages of a session come again with the same id and the same bytes when nobody acknowledged them',
    lives: IS_TOLD,
  },
  'new id for each try': {
    why: 'A receiver could not tell that it has the message already.',
    file: SENDER,
    piece: "id: toPublicId('msg', message.id)",
    becomes: "id: toPublicId('msg', crypto.randomUUID())",
    spec: WEBHOOKS,
    caughtBy: COMES_AGAIN,
    lives: IS_SENT,
  },
  'acknowledged before it is sent': {
    why: 'A message that was never taken would count as delivered.',
    file: SENDER,
    piece: 'const result = await this.sender.send(',
    becomes: `const taken = { outcome: { kind: 'delivered' }, status: 204, error: null } as const;
    const early = { ...taken, startedAt: new Date(), durationMs: 0 } as SendResult;
    await this.settle(claimed, early, leaving);
    const result = await this.sender.send(`,
    spec: WEBHOOKS,
    caughtBy: COMES_AGAIN,
    lives: IS_SENT,
  },
  'repeated acknowledgement taken for a new one': {
    why: 'It would open its turn again, and change when the message was delivered.',
    file: 'src/delivery/message.repository.ts',
    piece: 'messages.state = ANY($4::text[])',
    becomes: '$4::text[] IS NOT NULL',
    spec: PULL,
    caughtBy: 'an acknowledgement opens a turn at the first time only',
    lives: IS_TOLD,
  },
  'ended turn begins again': {
    why: 'A start that is repeated late would hold all messages back.',
    file: 'src/targets/turn-rules.ts',
    piece: "if (ended !== undefined) return ended.interrupted ? 'interrupted' : 'ended';",
    becomes: '',
    spec: 'test/turns.e2e-spec.ts',
    caughtBy: 'turns over HTTP end, and are not opened again',
    lives: 'turns over HTTP begin with the id that the engine gives',
  },
  'dead letter blocks the next message': {
    why: 'One receiver that was gone for a moment would hear nothing any more.',
    file: 'src/delivery/message-endings.ts',
    piece: 'const hasMore = ended.wasOut &&',
    becomes: "const hasMore = ended.wasOut && ending.state !== 'dead' &&",
    spec: WEBHOOKS,
    caughtBy:
      'a receiver that is gone makes a dead letter at once with 404, and the next one goes on',
    lives: IS_SENT,
  },
  'busy receiver counts as a try': {
    why: 'A receiver that works for long would have its messages die.',
    file: TRIED,
    piece: 'SET attempts = messages.attempts - 1, failures = 0',
    becomes: 'SET failures = messages.failures + 1',
    spec: WEBHOOKS,
    caughtBy: 'a receiver that is busy is left alone for as long as it says: 409',
    lives: IS_SENT,
  },
  'late answer of an overtaken try counts': {
    why: 'A message that somebody else is sending would be settled by what is no news.',
    file: TRIED,
    piece: `messages.hand_outs = $2
    AND`,
    becomes: `$2::int IS NOT NULL
    AND`,
    spec: 'test/webhooks-replicas.e2e-spec.ts',
    caughtBy:
      'webhooks that were overtaken by another try of the same message change nothing any more by their answer: 410',
    lives:
      'webhooks of a process that was held up between the claim and the send are not sent late',
  },
  'result told although it was marked as read': {
    why: 'The model would be woken for what it knows.',
    file: NOTIFICATIONS,
    piece: `notifications.suppressed IS NULL
    ORDER BY notifications.sequence`,
    becomes: `true
    ORDER BY notifications.sequence`,
    spec: 'test/mark-read.e2e-spec.ts',
    caughtBy:
      'a result that was read, on any of two replicas leaves the others to be told, in their order',
    lives:
      'a result that was read, on any of two replicas may be marked again: nothing more happens',
  },
  'what is sent again loses its order': {
    why: 'A session would hear of things in the order in which somebody has clicked.',
    file: DELIVERABLE,
    piece: 'ORDER BY held.created_at, held.id LIMIT 1',
    becomes: 'ORDER BY held.redelivered_at, held.id LIMIT 1',
    spec: 'test/redelivery.e2e-spec.ts',
    caughtBy:
      'sending a message again comes after the message that is out and before what is new, the oldest first',
    lives: 'sending a message again waits for the end of the turn',
  },
};
