import config from './jest.config.mjs';

/** npm run test:mutants: the tests on a product that is broken on purpose. */
export default {
  ...config,
  transform: { '^.+\\.ts$': '<rootDir>/test/mutants/mutating-transform.mjs' },
};
