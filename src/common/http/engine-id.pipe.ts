import { Injectable, type PipeTransform } from '@nestjs/common';
import { NotFoundError } from '../domain-error.js';
import { isEngineId } from '../engine-id.js';

/** Checks a path parameter that is an id of the engine: of a session, team, bot or turn. */
@Injectable()
export class EngineIdPipe implements PipeTransform<string, string> {
  /** @throws NotFoundError when no engine can have made it. */
  transform(text: string): string {
    if (!isEngineId(text)) throw new NotFoundError();
    return text;
  }
}
