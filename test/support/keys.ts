import { SECRETS_KEYS } from './secrets-keys.js';

/** The keys of every service that is started for a test. */
export const KEYS = {
  BGC_ADMIN_KEY: 'admin-key-for-tests-only-0001',
  BGC_AGENT_KEY: 'agent-key-for-tests-only-0001',
  BGC_BOT_KEY: 'bot-key-for-tests-only-000001',
  BGC_SECRETS_KEYS: SECRETS_KEYS,
};
