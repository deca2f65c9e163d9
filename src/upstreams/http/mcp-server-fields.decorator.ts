import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsString, Length, Matches, ValidateBy } from 'class-validator';

const SLUG = /^[a-z0-9-]{1,63}$/;
const MAX_URL_CHARS = 2_048;

/** The name that tool calls use. */
export function ServerName(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, pattern: SLUG.source, example: 'reports' }),
    Matches(SLUG, { message: '$property must be 1 to 63 of a-z, 0-9 and -' }),
  );
}

/** Any text for people to read. */
export function ServerTitle(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, minLength: 1, maxLength: 200, example: 'Reports' }),
    IsString(),
    Length(1, 200),
  );
}

/** Where the server listens. Credentials belong into headers, which are not shown. */
export function ServerUrl(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      type: String,
      format: 'uri',
      maxLength: MAX_URL_CHARS,
      example: 'https://mcp.example.com/mcp',
    }),
    ValidateBy({
      name: 'serverUrl',
      validator: {
        validate: isServerUrl,
        defaultMessage: () => '$property must be an http or https URL without user and password',
      },
    }),
  );
}

function isServerUrl(text: unknown): boolean {
  if (typeof text !== 'string' || text.length > MAX_URL_CHARS) return false;
  if (!/^https?:\/\/[!-~]+$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
