import { ValidateBy, type ValidationOptions } from 'class-validator';
import { isEngineId } from '../engine-id.js';

/** For fields of a body or query that carry an id of the engine. */
export function IsEngineId(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    {
      name: 'isEngineId',
      validator: {
        validate: isEngineId,
        defaultMessage: () =>
          '$property must be 1–128 characters of A-Z a-z 0-9 . _ : @ - and not "." or ".."',
      },
    },
    options,
  );
}
