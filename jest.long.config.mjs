import config from './jest.config.mjs';

/** What takes minutes because it is about minutes: `npm run test:long`. */
export default { ...config, testMatch: ['**/*.long-spec.ts'], testTimeout: 420_000 };
