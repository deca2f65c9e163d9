/** What may be served as what it says it is, with the ending of its files. */
const KNOWN = new Map([
  ['text/plain', 'txt'],
  ['text/csv', 'csv'],
  ['text/tab-separated-values', 'tsv'],
  ['text/markdown', 'md'],
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/yaml', 'yaml'],
  ['application/pdf', 'pdf'],
  ['application/zip', 'zip'],
  ['application/gzip', 'gz'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'pptx'],
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
  ['image/avif', 'avif'],
  ['image/bmp', 'bmp'],
  ['image/tiff', 'tiff'],
  ['audio/mpeg', 'mp3'],
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/ogg', 'ogg'],
  ['audio/flac', 'flac'],
  ['audio/aac', 'aac'],
  ['audio/mp4', 'm4a'],
  ['audio/webm', 'weba'],
  ['video/mp4', 'mp4'],
  ['video/webm', 'webm'],
  ['video/quicktime', 'mov'],
]);
/** Types that a browser runs: files may be called so, but no answer of ours is. */
const NEVER_SERVED = new Map([
  ['text/html', 'html'],
  ['application/xhtml+xml', 'xhtml'],
  ['image/svg+xml', 'svg'],
  ['text/xml', 'xml'],
  ['application/xml', 'xml'],
]);
/** `type/subtype` in lower case; parameters are not looked at, a character set has no say. */
const ESSENCE =
  /^\s*([a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126})\s*(?:;|$)/i;
const PASSIVE_FAMILY = /^(?:image|audio|video|font)\/(?!.*xml)/;

/** The type to serve something under that an MCP server calls `mimeType`: never one that is run. */
export function servedType(mimeType: unknown): string {
  const type = essenceOf(mimeType);
  if (type === undefined) return 'application/octet-stream';
  if (type.startsWith('text/') && KNOWN.has(type)) return `${type}; charset=utf-8`;
  return KNOWN.has(type) || PASSIVE_FAMILY.test(type) ? type : 'application/octet-stream';
}

/** The ending of a file for it, without the dot. */
export function extensionOf(mimeType: unknown, isText: boolean): string {
  const type = essenceOf(mimeType) ?? '';
  return KNOWN.get(type) ?? NEVER_SERVED.get(type) ?? (isText ? 'txt' : 'bin');
}

/** Undefined when it is no media type. */
function essenceOf(mimeType: unknown): string | undefined {
  return typeof mimeType === 'string' ? ESSENCE.exec(mimeType)?.[1]?.toLowerCase() : undefined;
}
