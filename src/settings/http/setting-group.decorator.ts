import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { Nested } from '../../common/http/nested.decorator.js';

/** One group of the tree in a change: may be left out, but is never null. */
export function SettingGroup(dto: () => new () => object): PropertyDecorator {
  return applyDecorators(ApiProperty({ type: dto, required: false }), IfGiven(), Nested(dto));
}
