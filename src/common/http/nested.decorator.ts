import { applyDecorators } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsObject, ValidateNested } from 'class-validator';

/** A field that is one object of another DTO class; ValidateNested alone would let arrays pass. */
export function Nested(dto: () => new () => object): PropertyDecorator {
  const otherwise = { message: '$property must be an object' };
  return applyDecorators(IsObject(otherwise), ValidateNested(otherwise), Type(dto));
}
