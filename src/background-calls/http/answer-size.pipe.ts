import { Injectable, type PipeTransform } from '@nestjs/common';
import { assertJsonSize } from '../../common/json-size.js';
import { Configuration } from '../../config/environment.js';
import type { InputAnswerDto } from './input-answer.dto.js';

/** Refuses an answer that is larger, as JSON, than the arguments of a tool may be. */
@Injectable()
export class AnswerSizePipe implements PipeTransform<InputAnswerDto, InputAnswerDto> {
  constructor(private readonly configuration: Configuration) {}

  transform(body: InputAnswerDto): InputAnswerDto {
    assertJsonSize(body.content ?? {}, '/content', this.configuration.maxArgumentBytes);
    return body;
  }
}
