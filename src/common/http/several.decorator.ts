import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { ArrayMaxSize } from 'class-validator';

const MOST_VALUES = 50;

/** For a filter of a query: `?x=a&x=b` and `?x=a,b` mean the same; 50 values at most. */
export function Several(): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }) => valuesOf(value)),
    ArrayMaxSize(MOST_VALUES),
  );
}

function valuesOf(value: unknown): unknown[] {
  return (Array.isArray(value) ? value : [value]).flatMap((item: unknown) =>
    typeof item === 'string' ? item.split(',') : [item],
  );
}
