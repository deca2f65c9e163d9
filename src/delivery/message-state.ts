/** What became of a message: only a pending one is handed out, and the other states never change. */
export const MESSAGE_STATES = ['pending', 'delivered', 'dead', 'discarded'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];
/** Why a message is a dead letter: nobody is there to take it, or all tries failed for too long. */
export type DeadReason = 'receiver_gone' | 'too_old';
