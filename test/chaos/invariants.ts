import { fromPublicId } from '../../src/common/ids.js';
import {
  asksAtMostOnce,
  endsOnce,
  holdsLimits,
  losesNoCall,
  saysWhy,
  shown,
  sweepsNoLivingOwner,
} from './call-invariants.js';
import {
  keepsOneBody,
  keepsTheOrder,
  reachesItsReceiver,
  tellsEachEndOnce,
  tellsTheTruth,
  waitsForTheTurn,
} from './delivery-invariants.js';
import type { Evidence } from './evidence.js';
import type { Invariant, Violation } from './violation.js';

/** What must hold of a run in which everything was let run out. */
export const INVARIANTS: Invariant[] = [
  {
    id: 'I1',
    says: 'a call reaches exactly one terminal state, which never changes',
    violations: endsOnce,
  },
  { id: 'I2', says: 'an accepted call is never lost', violations: losesNoCall },
  {
    id: 'I3',
    says: 'each end has one notification, in one message or suppressed',
    violations: tellsEachEndOnce,
  },
  { id: 'I4', says: 'a message id has one body for ever', violations: keepsOneBody },
  { id: 'I5', says: 'every message is received at least once', violations: reachesItsReceiver },
  { id: 'I6', says: 'what is told is what is so', violations: tellsTheTruth },
  { id: 'I7', says: 'first receipts of a session come in order', violations: keepsTheOrder },
  { id: 'I8', says: 'the upstream is asked at most once per call', violations: asksAtMostOnce },
  {
    id: 'I9',
    says: "a living owner's call is never swept, and a fenced owner writes nothing",
    violations: sweepsNoLivingOwner,
  },
  {
    id: 'I10',
    says: 'nothing is handed out while the turn of its session runs',
    violations: waitsForTheTurn,
  },
  { id: 'I12', says: 'nothing is left of ended calls', violations: leavesNothing },
  { id: 'I13', says: 'every failure says why', violations: saysWhy },
  { id: 'I14', says: 'limits hold across replicas', violations: holdsLimits },
  { id: 'API', says: 'every answer is as documented', violations: answersAsDocumented },
];

/** API */
function answersAsDocumented({ odd }: Evidence): Violation[] {
  return odd.map((what) => ({ what }));
}

/** I12 */
function leavesNothing({ left, callChanges }: Evidence): Violation[] {
  return Object.entries(left)
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => {
      const callId = callIn(name);
      const moves = callChanges.filter((change) => change.callId === callId);
      return { what: [`${name}: ${count}`, ...moves.map(shown)].join('; ') };
    });
}

function callIn(name: string): string | undefined {
  const publicId = /bgc_[0-9a-z]{26}/.exec(name)?.[0];
  return publicId && fromPublicId('bgc', publicId);
}
