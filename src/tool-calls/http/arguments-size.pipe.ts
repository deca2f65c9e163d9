import { Injectable, type PipeTransform } from '@nestjs/common';
import { assertJsonSize } from '../../common/json-size.js';
import { Configuration } from '../../config/environment.js';
import type { ToolCallDto } from './tool-call.dto.js';

/** Refuses arguments that are larger, as JSON, than the configuration allows. */
@Injectable()
export class ArgumentsSizePipe implements PipeTransform<ToolCallDto, ToolCallDto> {
  constructor(private readonly configuration: Configuration) {}

  transform(body: ToolCallDto): ToolCallDto {
    assertJsonSize(body.arguments ?? {}, '/arguments', this.configuration.maxArgumentBytes);
    return body;
  }
}
