import { Injectable, type PipeTransform } from '@nestjs/common';
import { NotFoundError } from '../domain-error.js';
import { fromPublicId, type IdPrefix } from '../ids.js';

/** Reads a path parameter such as `bgc_01h…` as the stored UUID. */
@Injectable()
export class PublicIdPipe implements PipeTransform<string, string> {
  constructor(private readonly prefix: IdPrefix) {}

  /** @throws NotFoundError when it is malformed: that looks like an id which does not exist. */
  transform(text: string): string {
    const uuid = fromPublicId(this.prefix, text);
    if (uuid === undefined) throw new NotFoundError();
    return uuid;
  }
}
