import { toPublicId } from '../../common/ids.js';

/** Who writes files for a call. */
export interface FileWriter {
  /** UUID of the call. */
  id: string;
  /** UUID of the process, if it took the call over: only the first one writes under the plain names. */
  takenBy?: string;
}

const MARK_CHARS = 8;
/** `<call>[-<part>][.<mark>].<type>`, or, while it is written, `.<call>[.<mark>]-<uuid>.tmp`. */
const NAME = new RegExp(
  `^\\.?([a-z]+_[a-z0-9]+)(?:-[0-9]+)?(?:\\.([0-9a-f]{${MARK_CHARS}}))?(?:-[0-9a-f-]{36})?\\.[a-z0-9]+$`,
);

/**
 * The name of a part of the result. No two processes ever write one name for a call, so that none of them
 * replaces or removes what another one has told of.
 */
export function fileName(writer: FileWriter, part: number, extension: string): string {
  return `${callIn(writer)}${part === 0 ? '' : `-${part}`}${markOf(writer)}.${extension}`;
}

/** A name that nobody looks at, of this writer. */
export function temporaryName(writer: FileWriter, uuid: string): string {
  return `.${callIn(writer)}${markOf(writer)}-${uuid}.tmp`;
}

/** Whether the file is of one of these calls, whoever wrote it. */
export function isOfAny(callIds: string[]): (name: string) => boolean {
  const ids = new Set(callIds.map((id) => toPublicId('bgc', id)));
  return (name) => ids.has(name.replace(/^\./, '').split(/[-.]/, 1)[0] ?? '');
}

/** Whether the file was written by one of these, for its call. */
export function isWrittenByAny(writers: FileWriter[]): (name: string) => boolean {
  const known = new Set(writers.map((writer) => `${callIn(writer)}${markOf(writer)}`));
  return (name) => {
    const [, call, mark] = NAME.exec(name) ?? [];
    return call !== undefined && known.has(mark === undefined ? call : `${call}.${mark}`);
  };
}

function callIn({ id }: FileWriter): string {
  return toPublicId('bgc', id);
}

/** The last characters of a UUIDv7 are chance, the first ones are its time. */
function markOf({ takenBy }: FileWriter): string {
  return takenBy === undefined ? '' : `.${takenBy.slice(-MARK_CHARS)}`;
}
