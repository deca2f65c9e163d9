/**
 * The product, broken on purpose: what the tests must notice. In `file` the text `piece`, which stands there
 * exactly once, becomes another one; then the test `caughtBy` of `spec` fails. The test `lives` passes all the
 * same: it is this that is broken, and not everything. Tests are named in full, as jest does.
 */
import { CALL_MUTANTS } from './call-mutants.mjs';
import { DELIVERY_MUTANTS } from './delivery-mutants.mjs';

export const MUTANTS = { ...CALL_MUTANTS, ...DELIVERY_MUTANTS };

/** @throws when the piece is not there exactly once: then nothing would be proved. */
export function mutate({ file, piece, becomes }, source) {
  const [before, ...after] = source.split(piece);
  if (after.length !== 1)
    throw new Error(`"${piece}" is in ${file} ${after.length} times, not once`);
  return `${before}${becomes}${after[0]}`;
}
