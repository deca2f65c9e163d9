import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { isJsonObject } from '../../common/json-object.js';
import { MASK } from '../connections/secret-mask.js';

const MAX_MEMBERS = 64;

interface MaskedMapRules {
  /** What its members are, as in "an object of …". */
  what: string;
  /** What is wrong with a name, as in "must …"; undefined: nothing. */
  mistakeInName: (name: string) => string | undefined;
  isValue: (value: string) => boolean;
  /** What a value is, as in "must have … for NAME". */
  value: string;
}

/** Names and values of which the values are never shown again; in a change null takes one away. */
export function MaskedMap(rules: MaskedMapRules, isNullable: boolean): PropertyDecorator {
  const value = { type: 'string' as const, ...(isNullable && { nullable: true }) };
  return applyDecorators(
    ApiPropertyOptional({ type: 'object', additionalProperties: value }),
    ValidateBy({
      name: 'maskedMap',
      validator: {
        validate: (map) => mistakeIn(map, rules, isNullable) === undefined,
        defaultMessage: (args) => `$property ${mistakeIn(args?.value, rules, isNullable) ?? ''}`,
      },
    }),
  );
}

/** As it is shown. */
export function masked(map: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.keys(map).map((name) => [name, MASK]));
}

function mistakeIn(map: unknown, rules: MaskedMapRules, isNullable: boolean): string | undefined {
  if (!isJsonObject(map)) return `must be an object of ${rules.what}`;
  const entries = Object.entries(map);
  if (entries.length > MAX_MEMBERS) return `must have at most ${MAX_MEMBERS} members`;
  for (const [name, value] of entries) {
    const mistake = rules.mistakeInName(name);
    if (mistake !== undefined) return mistake;
    if (value === null && isNullable) continue;
    if (typeof value !== 'string' || !rules.isValue(value))
      return `must have ${rules.value} for ${name}`;
    if (value === MASK) return `must not have the mask as the value of ${name}`;
  }
  return undefined;
}
