import type { ArgumentMetadata, PipeTransform, Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import { InvalidRequestError } from '../domain-error.js';
import { isJsonObject } from '../json-object.js';
import { fieldErrorsOf, lostFieldsOf, reservedFieldsOf } from './field-errors.js';
import { rawJsonFieldsOf } from './raw-json.decorator.js';

type Dto = Type<object>;
const BUILT_IN: readonly unknown[] = [undefined, Object, Array, String, Number, Boolean];

/**
 * Reads bodies and queries as instances of their DTO class and checks them; a field that the class
 * does not know is an error. Parameters without a DTO class pass untouched.
 */
export class RequestValidationPipe implements PipeTransform {
  /** @throws InvalidRequestError with one entry for each wrong field. */
  async transform(value: unknown, { type, metatype }: ArgumentMetadata): Promise<unknown> {
    const isChecked = type === 'body' || type === 'query';
    if (!isChecked || BUILT_IN.includes(metatype)) return value;
    const given = value === undefined ? {} : value;
    if (!isJsonObject(given))
      throw new InvalidRequestError([{ pointer: '', detail: 'must be an object' }]);
    return check(metatype as Dto, given, type);
  }
}

async function check(
  dto: Dto,
  given: Record<string, unknown>,
  type: 'body' | 'query',
): Promise<object> {
  const raw = rawJsonFieldsOf(dto).filter((key) => Object.hasOwn(given, key));
  const rest = Object.fromEntries(Object.entries(given).filter(([key]) => !raw.includes(key)));
  const reserved = reservedFieldsOf(rest, type);
  if (reserved.length > 0) throw new InvalidRequestError(reserved);
  const instance = plainToInstance(dto, rest);
  for (const key of raw) Object.assign(instance, { [key]: given[key] });
  const wrong = await validate(instance, {
    whitelist: true,
    forbidNonWhitelisted: true,
    validationError: { target: false },
  });
  const errors = [...fieldErrorsOf(wrong, type), ...lostFieldsOf(rest, instance, type)];
  if (errors.length > 0) throw new InvalidRequestError(errors);
  return instance;
}
