import { ValidateBy } from 'class-validator';

export const MAX_URL_CHARS = 2_048;

interface HttpUrlOptions {
  isNullable?: boolean;
}

/** For fields that carry an address to which this service sends requests. */
export function IsHttpUrl({ isNullable = false }: HttpUrlOptions = {}): PropertyDecorator {
  return ValidateBy({
    name: 'isHttpUrl',
    validator: {
      validate: (value) => (isNullable && value === null) || isHttpUrl(value),
      defaultMessage: () =>
        `$property must be an http or https URL without user and password${isNullable ? ', or null' : ''}`,
    },
  });
}

function isHttpUrl(text: unknown): boolean {
  if (typeof text !== 'string' || text.length > MAX_URL_CHARS) return false;
  if (!/^https?:\/\/[!-~]+$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
