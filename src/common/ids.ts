import { TypeID, typeid } from 'typeid-js';

/** Prefixes of the ids that this service makes; session, team, bot and turn ids are the engine's. */
export type IdPrefix = 'bgc' | 'msg' | 'ntf' | 'msv' | 'app' | 'key' | 'ins';

/** How ids are written in the database. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Makes ids: TypeIDs (prefix + base32 UUIDv7) outside, plain UUIDs in the database. */
export abstract class Ids {
  /** A new time-ordered UUID, as stored in the database. */
  abstract uuid(): string;
}

export class RandomIds extends Ids {
  uuid(): string {
    return typeid().toUUID();
  }
}

/** Writes a stored UUID the way the API shows it, for example `bgc_01h…`. */
export function toPublicId(prefix: IdPrefix, uuid: string): string {
  return TypeID.fromUUID(prefix, uuid).toString();
}

/** Reads an id of the API; undefined when it is malformed or of another kind. */
export function fromPublicId(prefix: IdPrefix, text: string): string | undefined {
  try {
    return TypeID.fromString(text, prefix).toUUID();
  } catch {
    return undefined;
  }
}
