import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { Nested } from '../../common/http/nested.decorator.js';

/** One group of the tree in a change: may be left out, but is never null. */
export function SettingGroup(dto: () => new () => object): PropertyDecorator {
  // Swagger takes a function for a lazy type only when its name is "type": this one is, `dto` is not.
  const documented = { type: () => dto(), required: false };
  return applyDecorators(ApiProperty(documented), IfGiven(), Nested(dto));
}
