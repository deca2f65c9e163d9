/** What became of a message. Only a pending one is handed out. */
export const MESSAGE_STATES = ['pending', 'delivered', 'dead', 'discarded'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** The moves between them: what an administrator has sent again is pending once more. */
const MESSAGE_TRANSITIONS: Readonly<Record<MessageState, readonly MessageState[]>> = {
  pending: ['delivered', 'dead', 'discarded'],
  delivered: ['pending'],
  dead: ['pending', 'discarded'],
  discarded: [],
};

/** The states from which a message may move to `to`: the guard of every UPDATE that moves it. */
export function messageSourcesOf(to: MessageState): MessageState[] {
  return MESSAGE_STATES.filter((from) => MESSAGE_TRANSITIONS[from].includes(to));
}

/** Why a message is a dead letter: nobody is there to take it, or all tries failed for too long. */
export const DEAD_REASONS = ['receiver_gone', 'too_old'] as const;
export type DeadReason = (typeof DEAD_REASONS)[number];
