import { isJsonObject } from '../../common/json-object.js';
import type { ToolResult } from '../call-outcome.js';
import { extensionOf } from './media-type.js';

/** What a part of a result holds: text, or decoded bytes, of the type that the MCP server gives it. */
export interface PartContent {
  /** Not trusted, often missing. */
  mimeType: unknown;
  body: string | Buffer;
}

type Fields = Record<string, unknown>;

const JSON_TYPE = 'application/json';
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The content parts as they came, whatever they are; none where the content is no list. */
export function partsOf(result: ToolResult): unknown[] {
  const content = result['content'];
  return Array.isArray(content) ? content : [];
}

export function hasStructuredContent(result: ToolResult): boolean {
  return result['structuredContent'] !== undefined;
}

/** Whether the part is text that needs no description. */
export function isTextPart(part: unknown): part is { text: string } {
  return isJsonObject(part) && part['type'] === 'text' && typeof part['text'] === 'string';
}

/** The one place that knows the kinds; what is of no known kind, or broken, is its own JSON. */
export function contentOf(part: unknown): PartContent {
  if (isTextPart(part)) return { mimeType: 'text/plain', body: part.text };
  if (isJsonObject(part) && (part['type'] === 'image' || part['type'] === 'audio'))
    return decoded(part['data'], part['mimeType']) ?? jsonOf(part);
  if (isJsonObject(part) && part['type'] === 'resource' && isJsonObject(part['resource'])) {
    const { text, blob, mimeType } = part['resource'];
    if (typeof text === 'string') return { mimeType: mimeType ?? 'text/plain', body: text };
    return decoded(blob, mimeType) ?? jsonOf(part);
  }
  return jsonOf(part);
}

/** The part that the API calls so: a number, or `structuredContent`; undefined when there is none. */
export function contentNamed(result: ToolResult, name: string): PartContent | undefined {
  if (name === 'structuredContent')
    return hasStructuredContent(result) ? structuredContentOf(result) : undefined;
  const parts = partsOf(result);
  return Number(name) < parts.length ? contentOf(parts[Number(name)]) : undefined;
}

/** The structured content as JSON. */
export function structuredContentOf(result: ToolResult): PartContent {
  return jsonOf(result['structuredContent']);
}

/** What is shown of a part where only text can be: itself, or its kind, type and size. */
export function describePart(part: Fields): string {
  if (isTextPart(part)) return part.text;
  const { type } = part;
  const kind = typeof type === 'string' ? type : 'unknown';
  const holder = isJsonObject(part['resource']) ? part['resource'] : part;
  const details = [holder['mimeType'], holder['uri']].filter(
    (detail) => typeof detail === 'string',
  );
  const encoded = holder['data'] ?? holder['blob'];
  if (typeof encoded === 'string') details.push(`${encoded.length} base64 characters`);
  return `[${[kind, ...details].join(', ')}]`;
}

/** The ending of a file for it, without the dot. */
export function fileExtensionOf({ mimeType, body }: PartContent): string {
  return extensionOf(mimeType, typeof body === 'string');
}

/** Undefined when it is not base64; line breaks and missing padding are taken. */
function decoded(data: unknown, mimeType: unknown): PartContent | undefined {
  if (typeof data !== 'string') return undefined;
  const text = /\s/.test(data) ? data.replaceAll(/\s+/g, '') : data;
  if (!BASE64.test(text) || text.replace(/=+$/, '').length % 4 === 1) return undefined;
  return { mimeType, body: Buffer.from(text, 'base64') };
}

function jsonOf(part: unknown): PartContent {
  return { mimeType: JSON_TYPE, body: JSON.stringify(part) };
}
