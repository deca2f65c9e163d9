/** A file in the workspace of a target. */
export interface ResultFile {
  /** Relative to the workspace: `.agent/mcp/…`. */
  path: string;
  bytes: number;
}

/** The files that the result of an ended call was written to, as a message tells of them. */
export interface FiledResult {
  /** Path of the first text, or else of the first part. */
  main: string;
  /** In the order of the parts, not more than a message can name. */
  listed: ResultFile[];
  /** How many files there are besides. */
  unlisted: number;
  /** How many parts have no file, because there are too many. */
  unfiled: number;
}

const MAX_LISTED = 20;

/** What was filed of parts of which some are text; there may be fewer files than parts. */
export function toFiledResult(files: ResultFile[], partsAreText: boolean[]): FiledResult {
  const firstText = partsAreText.indexOf(true);
  return {
    main: (files[firstText] ?? files[0])?.path ?? '',
    listed: files.slice(0, MAX_LISTED),
    unlisted: Math.max(0, files.length - MAX_LISTED),
    unfiled: partsAreText.length - files.length,
  };
}
