import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file that the row of an ended call, and so its message, names. */
export interface NamedFile {
  /** Below the root of all workspaces. */
  path: string;
  /** Of the call, as its result begins. */
  name: string;
  bytes: number;
}

export const NAMED_FILES = `
  SELECT concat_ws('/', apps.name, 'sessions', targets.session_id, file->>'path') AS path,
    (file->>'bytes')::int AS bytes, background_calls.arguments::jsonb->>'name' AS name
  FROM background_calls
  JOIN targets ON targets.id = background_calls.target_id
  JOIN apps ON apps.id = background_calls.app_id
  CROSS JOIN jsonb_array_elements(background_calls.result_files->'listed') AS file`;

/** What lies in the workspaces against what is named: each mistake with the path of its file. */
export function wrongFiles(root: string, named: NamedFile[]): string[] {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1));
  const paths = new Set(named.map(({ path }) => path));
  const there = new Set(files);
  const holdsOther = named
    .filter(({ path }) => there.has(path))
    .filter((file) => !holds(join(root, file.path), file));
  return [
    ...files.filter((file) => file.endsWith('.tmp')).map((file) => `temporary file ${file}`),
    ...files.filter((file) => !paths.has(file)).map((file) => `file that no call names ${file}`),
    ...[...paths].filter((path) => !there.has(path)).map((path) => `missing named file ${path}`),
    ...holdsOther.map(({ path }) => `named file that holds something else ${path}`),
  ];
}

function holds(path: string, { name, bytes }: NamedFile): boolean {
  const content = readFileSync(path);
  return content.byteLength === bytes && content.toString().startsWith(`${name} `);
}
