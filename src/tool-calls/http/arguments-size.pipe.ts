import { Injectable, type PipeTransform } from '@nestjs/common';
import { InvalidRequestError } from '../../common/domain-error.js';
import { Configuration } from '../../config/environment.js';
import type { ToolCallDto } from './tool-call.dto.js';

/** Refuses arguments that are larger, as JSON, than the configuration allows. */
@Injectable()
export class ArgumentsSizePipe implements PipeTransform<ToolCallDto, ToolCallDto> {
  constructor(private readonly configuration: Configuration) {}

  transform(body: ToolCallDto): ToolCallDto {
    const { maxArgumentBytes } = this.configuration;
    const bytes = Buffer.byteLength(JSON.stringify(body.arguments ?? {}));
    if (bytes > maxArgumentBytes) {
      const detail = `must be at most ${maxArgumentBytes} bytes of JSON, not ${bytes}`;
      throw new InvalidRequestError([{ pointer: '/arguments', detail }]);
    }
    return body;
  }
}
