import { resolve } from 'node:path';
import { GeneratedKeys } from './auth/generated-keys.js';
import type { Configuration } from './config/environment.js';
import type { Service } from './service.js';

/** What a person who starts the service by hand sees: new keys, once, and lines to try the demo with. */
export function printBanner(service: Service, configuration: Configuration): void {
  const { keys, savedIn } = service.get(GeneratedKeys);
  const lines = [
    ...(savedIn === undefined ? [] : newKeyLines(keys, savedIn)),
    ...(configuration.demo ? demoLines(service.url, configuration) : []),
  ];
  if (lines.length > 0) process.stdout.write(`\n${lines.join('\n')}\n\n`);
}

function newKeyLines(keys: GeneratedKeys['keys'], savedIn: string): string[] {
  const shown = Object.entries(keys).map(([audience, key]) => `  ${audience.padEnd(5)} ${key}`);
  return [`New keys of the app "default" (shown this once, saved in ${savedIn}):`, ...shown, ''];
}

/** The comments are plain words and stops: a zsh into which they are pasted reads them as commands. */
function demoLines(url: string, configuration: Configuration): string[] {
  const session = `${url}/v1/sessions/demo`;
  const call = {
    ...{ server: 'demo', tool: 'export_report', arguments: { seconds: 20 }, turnId: 'turn-1' },
    background: { autoAfterSec: 3 },
  };
  return [
    'Try it: a report that takes 20 seconds moves to the background after 3.',
    '',
    agentKeyLine(configuration),
    '# 1. The call: after 3 seconds the answer says that it goes on in the background.',
    post(`${session}/tool-calls`, call),
    '# 2. The model ends its turn. Until then nothing would be handed out.',
    post(`${session}/turns/turn-1/end`, {}),
    '# 3. The message with the result comes as soon as the report is done.',
    `MESSAGES=$(${get(`${session}/messages?wait=60`)}); echo "$MESSAGES"`,
    '# 4. Acknowledged, it is gone.',
    `MESSAGE=$(echo "$MESSAGES" | grep -o 'msg_[0-9a-z]*' | head -1)`,
    post(`${url}/v1/messages/$MESSAGE/ack`, {}),
    `${get(`${session}/messages`)}; echo`,
  ];
}

function agentKeyLine({ fixedKeys, dataDir }: Configuration): string {
  if (fixedKeys.agent !== undefined)
    return 'AGENT_KEY=${BGC_AGENT_KEY:?set it to the key that the service was started with}';
  const file = resolve(dataDir, 'keys.json').replaceAll("'", `'\\''`);
  return `AGENT_KEY=$(sed -n 's/.*"agent": *"\\([^"]*\\)".*/\\1/p' '${file}')`;
}

function post(url: string, body: object): string {
  const json = "-H 'content-type: application/json'";
  return `curl -sS ${AUTHORIZATION} ${json} -d '${JSON.stringify(body)}' "${url}"; echo`;
}

function get(url: string): string {
  return `curl -sS ${AUTHORIZATION} "${url}"`;
}

const AUTHORIZATION = '-H "Authorization: Bearer $AGENT_KEY"';
