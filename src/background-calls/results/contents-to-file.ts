import { isDeepStrictEqual } from 'node:util';
import type { FileContent } from '../../delivery/files/result-files.js';
import type { EndedResult } from '../call-ending.js';
import type { ToolResult } from '../call-outcome.js';
import {
  contentOf,
  fileExtensionOf,
  hasStructuredContent,
  isTextPart,
  type PartContent,
  partsOf,
  structuredContentOf,
} from './result-parts.js';

/** What of a result becomes files: every part, or none when the preview shows all that there is. */
export function contentsToFile({ whole, truncated }: EndedResult): FileContent[] {
  const parts = partsOf(whole);
  const isShownWhole = !truncated && parts.every(isTextPart) && showsStructure(whole, parts);
  if (isShownWhole) return [];
  const contents = parts.map((part, index) =>
    toFileContent(index, isTextPart(part), () => contentOf(part)),
  );
  if (hasStructuredContent(whole))
    contents.push(toFileContent(parts.length, false, () => structuredContentOf(whole)));
  return contents;
}

/** By its specification a tool repeats the structured content as text; it is shown where there is no text. */
function showsStructure(whole: ToolResult, parts: unknown[]): boolean {
  const texts = parts.filter(isTextPart).filter(({ text }) => text !== '');
  if (!hasStructuredContent(whole) || texts.length === 0) return true;
  return texts.some(({ text }) => isJsonOf(text, whole['structuredContent']));
}

function isJsonOf(text: string, value: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false;
  }
}

function toFileContent(part: number, isText: boolean, read: () => PartContent): FileContent {
  return {
    part,
    isText,
    read: () => {
      const content = read();
      return { extension: fileExtensionOf(content), body: content.body };
    },
  };
}
