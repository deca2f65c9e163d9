import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';

/** What is shown in place of a value. */
export const MASK = '***';

const MAX_HEADERS = 64;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8192}$/;
/** Those that belong to the connection and to the protocol. */
const RESERVED =
  /^(accept|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** Names and values of HTTP headers (RFC 9110); in a change null takes one away. */
export function HeaderMap({ isNullable = false } = {}): PropertyDecorator {
  const value = { type: 'string' as const, ...(isNullable && { nullable: true }) };
  return applyDecorators(
    ApiPropertyOptional({ type: 'object', additionalProperties: value }),
    ValidateBy({
      name: 'headerMap',
      validator: {
        validate: (map) => mistakeIn(map, isNullable) === undefined,
        defaultMessage: (args) => `$property ${mistakeIn(args?.value, isNullable) ?? ''}`,
      },
    }),
  );
}

function mistakeIn(map: unknown, isNullable: boolean): string | undefined {
  if (typeof map !== 'object' || map === null || Array.isArray(map))
    return 'must be an object of header names and values';
  const entries = Object.entries(map);
  if (entries.length > MAX_HEADERS) return `must have at most ${MAX_HEADERS} members`;
  for (const [name, value] of entries) {
    if (!NAME.test(name)) return 'must have names that are HTTP header names';
    if (RESERVED.test(name)) return `must not have ${name}, which this service sends itself`;
    if (value === null && isNullable) continue;
    if (typeof value !== 'string' || !VALUE.test(value) || value.trim() !== value)
      return `must have a header value for ${name}`;
    if (value === MASK) return `must not have the mask as the value of ${name}`;
  }
  return undefined;
}
