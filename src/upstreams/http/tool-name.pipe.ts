import { Injectable, type PipeTransform } from '@nestjs/common';
import { NotFoundError } from '../../common/domain-error.js';
import { toStorableText } from '../../common/storable-text.js';

/** Checks a path parameter that is the name of a tool: any text of the upstream's choice. */
@Injectable()
export class ToolNamePipe implements PipeTransform<string, string> {
  /** @throws NotFoundError when it can't be stored, and so can't be said anything about. */
  transform(text: string): string {
    if (text === '' || toStorableText(text) !== text) throw new NotFoundError();
    return text;
  }
}
