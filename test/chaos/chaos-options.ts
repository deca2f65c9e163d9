const { CHAOS_MINUTES, CHAOS_SEED, CHAOS_POINTS = '' } = process.env;
const DEFAULT_MINUTES = 1;

/** What `npm run test:chaos` was given. */
export const CHAOS = {
  /** How long there is trouble. */
  minutes: Number(CHAOS_MINUTES ?? DEFAULT_MINUTES),
  /** More time than every start needs it: every failpoint is come to. */
  isLong: CHAOS_MINUTES !== undefined && Number(CHAOS_MINUTES) > DEFAULT_MINUTES,
  /** Of all that is left to chance. */
  seed: Number(CHAOS_SEED ?? Math.floor(Math.random() * 1_000_000)),
  /** Which failpoints, as a regular expression. */
  points: CHAOS_POINTS,
};
