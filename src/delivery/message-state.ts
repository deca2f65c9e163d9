/** What became of a message: only a pending one is handed out, and the other states never change. */
export const MESSAGE_STATES = ['pending', 'delivered', 'dead', 'discarded'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];
