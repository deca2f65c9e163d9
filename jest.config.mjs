/** Native ESM on a real PostgreSQL: run through scripts/test.mjs, which provides both. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '**/*.e2e-spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest'] },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  maxWorkers: 2,
  // An upper bound for a machine that is busy: the service may take up to 27 s to leave in order.
  testTimeout: 60_000,
};
