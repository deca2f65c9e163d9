/**
 * So many messages are handed to the SDK in a row; then everything else of this process has its turn. Each takes
 * some tenths of a millisecond, and an upstream may send any number of them at once.
 */
export const MESSAGES_PER_TURN = 16;
