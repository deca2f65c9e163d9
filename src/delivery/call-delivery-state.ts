import { MESSAGE_STATES } from './message-state.js';

/**
 * How far the end of a call has come: it waits to be told, its message is in a state, or it is told in
 * none. A call that has not ended has come nowhere.
 */
export const CALL_DELIVERY_STATES = ['waiting', ...MESSAGE_STATES, 'suppressed'] as const;
export type CallDeliveryState = (typeof CALL_DELIVERY_STATES)[number];
