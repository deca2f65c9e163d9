import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { Nested } from '../../common/http/nested.decorator.js';

/** The longest time that a timer of Node can wait is 2^31 - 1 ms, which is 596.5 hours. */
const MAX_HOURS = 596;
const MAX_SECONDS = MAX_HOURS * 3_600;
const MIN_SECONDS = 0.05;

interface NumberRange {
  min?: number;
  /** Excluded itself. */
  above?: number;
  max: number;
  isWhole?: boolean;
  isNullable?: boolean;
}

interface Nullable {
  isNullable?: boolean;
}

export function Seconds({ isNullable }: Nullable = {}): PropertyDecorator {
  return NumberSetting({ min: MIN_SECONDS, max: MAX_SECONDS, isNullable });
}

export function Hours(): PropertyDecorator {
  return NumberSetting({ above: 0, max: MAX_HOURS });
}

export function Days(max: number): PropertyDecorator {
  return NumberSetting({ above: 0, max });
}

/** A whole number. */
export function Count(min: number, max: number, { isNullable }: Nullable = {}): PropertyDecorator {
  return NumberSetting({ min, max, isWhole: true, isNullable });
}

export function Choice(values: readonly string[], enumName: string): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ enum: values, enumName }),
    mustBe(`one of: ${values.join(', ')}`, (value) => values.includes(value as string)),
  );
}

/** One group of the tree in a change: may be left out, but is never null. */
export function SettingGroup(dto: () => new () => object): PropertyDecorator {
  return applyDecorators(ApiProperty({ type: dto, required: false }), IfGiven(), Nested(dto));
}

function NumberSetting(range: NumberRange): PropertyDecorator {
  const { min, above, max, isWhole, isNullable } = range;
  const documented = {
    type: isWhole ? ('integer' as const) : ('number' as const),
    minimum: min,
    exclusiveMinimum: above as never,
    maximum: max,
  };
  return applyDecorators(
    ApiProperty({ ...documented, ...(isNullable && { nullable: true }) }),
    mustBe(describe(range), (value) => (isNullable && value === null) || isWithin(range, value)),
  );
}

function isWithin({ min, above, max, isWhole }: NumberRange, value: unknown): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  if (isWhole && !Number.isInteger(value)) return false;
  return value >= (min ?? -Infinity) && value > (above ?? -Infinity) && value <= max;
}

function describe({ min, above, max, isWhole, isNullable }: NumberRange): string {
  const from = min === undefined ? `above ${above}` : `from ${min}`;
  return `a ${isWhole ? 'whole ' : ''}number ${from} to ${max}${isNullable ? ', or null' : ''}`;
}

function mustBe(what: string, isValid: (value: unknown) => boolean): PropertyDecorator {
  return ValidateBy({
    name: 'setting',
    validator: { validate: isValid, defaultMessage: () => `$property must be ${what}` },
  });
}
