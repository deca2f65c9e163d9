import { ValidateBy } from 'class-validator';

const INSTANT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** For fields that carry a moment: RFC 3339, with any offset. `toInstant` reads it. */
export function IsInstant(): PropertyDecorator {
  return ValidateBy({
    name: 'isInstant',
    validator: {
      validate: isInstant,
      defaultMessage: () =>
        '$property must be a time of RFC 3339 with an offset, such as 2026-01-31T12:00:00Z',
    },
  });
}

/** Reads what `IsInstant` has let pass, to the millisecond. */
export function toInstant(text: string): Date {
  return new Date(text);
}

function isInstant(text: unknown): boolean {
  if (typeof text !== 'string' || !INSTANT.test(text)) return false;
  const date = text.slice(0, 10);
  return !Number.isNaN(Date.parse(text)) && isDay(date);
}

/** Refuses days that no month has, which Date would move to the next month. */
function isDay(date: string): boolean {
  const at = new Date(`${date}T00:00:00.000Z`);
  return !Number.isNaN(at.getTime()) && at.toJSON().startsWith(date);
}
