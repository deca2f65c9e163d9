import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { IfGiven } from './if-given.decorator.js';

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
}

interface FieldOptions {
  isNullable?: boolean;
  /** May be left out. */
  isOptional?: boolean;
}

/** A duration in seconds, from 0.05 to 596 hours. */
export function Seconds(description: string, options: FieldOptions = {}): PropertyDecorator {
  return NumberField({ min: MIN_SECONDS, max: MAX_SECONDS }, description, options);
}

/** A duration in hours, above 0, up to 596. */
export function Hours(description: string, options: FieldOptions = {}): PropertyDecorator {
  return NumberField({ above: 0, max: MAX_HOURS }, description, options);
}

/** A duration in days, above 0. */
export function Days(max: number, description: string): PropertyDecorator {
  return NumberField({ above: 0, max }, description, {});
}

/** A whole number. */
export function Count(
  min: number,
  max: number,
  description: string,
  options: FieldOptions = {},
): PropertyDecorator {
  return NumberField({ min, max, isWhole: true }, description, options);
}

/** A number. */
export function NumberBetween(min: number, max: number, description: string): PropertyDecorator {
  return NumberField({ min, max }, description, {});
}

/** Reads the text of a query as a decimal number; other texts stay what they are, for the field's rule to refuse. */
export function FromText(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value,
  );
}

/** One of a few words. */
export function Choice(
  values: readonly string[],
  enumName: string,
  description: string,
  { isOptional = false }: FieldOptions = {},
): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ enum: values, enumName, description, required: !isOptional }),
    ...(isOptional ? [IfGiven()] : []),
    mustBe(`one of: ${values.join(', ')}`, (value) => values.includes(value as string)),
  );
}

function NumberField(
  range: NumberRange,
  description: string,
  { isNullable = false, isOptional = false }: FieldOptions,
): PropertyDecorator {
  const documented = {
    type: range.isWhole ? ('integer' as const) : ('number' as const),
    minimum: range.min,
    exclusiveMinimum: range.above as never,
    maximum: range.max,
    description,
    required: !isOptional,
  };
  return applyDecorators(
    ApiProperty({ ...documented, ...(isNullable && { nullable: true }) }),
    ...(isOptional ? [IfGiven()] : []),
    mustBe(
      `${describe(range)}${isNullable ? ', or null' : ''}`,
      (value) => (isNullable && value === null) || isWithin(range, value),
    ),
  );
}

function isWithin({ min, above, max, isWhole }: NumberRange, value: unknown): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  if (isWhole && !Number.isInteger(value)) return false;
  return value >= (min ?? -Infinity) && value > (above ?? -Infinity) && value <= max;
}

function describe({ min, above, max, isWhole }: NumberRange): string {
  const from = min === undefined ? `above ${above}` : `from ${min}`;
  return `a ${isWhole ? 'whole ' : ''}number ${from} to ${max}`;
}

function mustBe(what: string, isValid: (value: unknown) => boolean): PropertyDecorator {
  return ValidateBy({
    name: 'field',
    validator: { validate: isValid, defaultMessage: () => `$property must be ${what}` },
  });
}
