import base from './jest.config.mjs';

/** npm run test:chaos: processes that are killed, paused and cut off. */
export default { ...base, roots: ['<rootDir>/test/chaos'], testMatch: ['**/*.chaos-spec.ts'] };
