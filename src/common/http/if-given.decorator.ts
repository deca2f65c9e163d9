import { ValidateIf } from 'class-validator';

/** A field that may be left out; unlike class-validator's IsOptional it lets no null pass unchecked. */
export function IfGiven(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}
