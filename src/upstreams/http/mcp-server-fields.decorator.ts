import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString, Length, Matches, ValidateBy } from 'class-validator';
import { IsHttpUrl, MAX_URL_CHARS } from '../../common/http/is-http-url.decorator.js';
import { SHARINGS, TRANSPORTS } from '../mcp-server.js';
import { isProgramText } from './program-text.js';

const SLUG = /^[a-z0-9-]{1,63}$/;
const MAX_COMMAND_CHARS = 1_024;
const MAX_ARGS = 64;
const MAX_ARG_CHARS = 4_096;

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

/** How the server is spoken to. */
export function ServerTransport(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ enum: TRANSPORTS, enumName: 'Transport' }),
    IsIn(TRANSPORTS, { message: `$property must be one of: ${TRANSPORTS.join(', ')}` }),
  );
}

/** Who uses one connection. */
export function ServerSharing(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ enum: SHARINGS, enumName: 'Sharing' }),
    IsIn(SHARINGS, { message: `$property must be one of: ${SHARINGS.join(', ')}` }),
  );
}

/** The program of a stdio server; whether it is allowed is not looked at here. */
export function ServerCommand(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      type: String,
      minLength: 1,
      maxLength: MAX_COMMAND_CHARS,
      example: '/usr/local/bin/reports-mcp',
    }),
    ValidateBy({
      name: 'serverCommand',
      validator: {
        validate: (value) => value !== '' && isProgramText(value, MAX_COMMAND_CHARS),
        defaultMessage: () => `$property must be 1 to ${MAX_COMMAND_CHARS} characters without NUL`,
      },
    }),
  );
}

/** What the program is given, each as it is: no shell reads it. */
export function ServerArgs(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      type: 'array',
      items: { type: 'string', maxLength: MAX_ARG_CHARS },
      maxItems: MAX_ARGS,
      example: ['--verbose'],
    }),
    ValidateBy({
      name: 'serverArgs',
      validator: {
        validate: isArgs,
        defaultMessage: () =>
          `$property must be at most ${MAX_ARGS} strings of at most ${MAX_ARG_CHARS} characters without NUL`,
      },
    }),
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
    IsHttpUrl(),
  );
}

function isArgs(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > MAX_ARGS) return false;
  return value.every((arg) => isProgramText(arg, MAX_ARG_CHARS));
}
