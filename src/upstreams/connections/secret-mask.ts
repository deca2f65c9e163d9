import type { McpServer } from '../mcp-server.js';

export type SecretMask = (text: string) => string;

/** What is shown in place of a secret. */
export const MASK = '***';
/** Shorter values, such as `1` or `on`, are no secrets, and would make texts unreadable. */
const MIN_CHARS = 4;
const SCHEME_AND_CREDENTIALS = /^(\w+) +(\S.*)$/;

/** Puts `***` in the place of the header values and variables of this server, in texts that it may have made up. */
export function secretMask(server: McpServer): SecretMask {
  const values = Object.values(server.transport === 'stdio' ? server.env : server.headers);
  const secrets = values.flatMap(credentialsIn).filter(isLongEnough);
  if (secrets.length === 0) return (text) => text;
  const forms = [...new Set([...values, ...secrets].flatMap(formsOf))]
    .filter(isLongEnough)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const masked = forms.reduce((rest, form) => rest.replaceAll(form, MASK), text);
    return withoutBeginningAtEnd(masked, secrets);
  };
}

/** A header holds a scheme besides, and of Basic the password can be read. */
function credentialsIn(value: string): string[] {
  const [, scheme = '', credentials = value] = SCHEME_AND_CREDENTIALS.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [credentials];
  const decoded = Buffer.from(credentials, 'base64').toString();
  return [credentials, decoded, decoded.slice(decoded.indexOf(':') + 1)];
}

/** As it is, and as it stands in JSON and in an address. */
function formsOf(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
}

/** A text that was cut may end in the middle of a secret. */
function withoutBeginningAtEnd(text: string, secrets: readonly string[]): string {
  for (const secret of secrets)
    for (let chars = secret.length - 1; chars >= MIN_CHARS; chars--)
      if (text.endsWith(secret.slice(0, chars))) return text.slice(0, -chars) + MASK;
  return text;
}

function isLongEnough(text: string): boolean {
  return text.length >= MIN_CHARS;
}
