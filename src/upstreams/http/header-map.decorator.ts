import { MaskedMap } from './masked-map.decorator.js';

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8192}$/;
/** Those that belong to the connection and to the protocol. */
const RESERVED =
  /^(accept|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** Names and values of HTTP headers (RFC 9110); in a change null takes one away. */
export function HeaderMap({ isNullable = false } = {}): PropertyDecorator {
  return MaskedMap(
    {
      what: 'header names and values',
      mistakeInName,
      isValue: (value) => VALUE.test(value) && value.trim() === value,
      value: 'a header value',
    },
    isNullable,
  );
}

function mistakeInName(name: string): string | undefined {
  if (!NAME.test(name)) return 'must have names that are HTTP header names';
  if (RESERVED.test(name)) return `must not have ${name}, which this service sends itself`;
  return undefined;
}
