const PAGE = /^\s*<(?:!doctype|html|head|body|\?xml|!--)/i;
const TITLE = /<title[^>]*>([^<]*)/i;
const MAX_TITLE_CHARS = 100;

/** Whether somebody meant it for a browser: a page to log in, or an error of a proxy. */
export function isWebPage(text: string): boolean {
  return PAGE.test(text);
}

/** The text itself; of a page only what it is called. */
export function withoutMarkup(text: string): string {
  if (!isWebPage(text)) return text;
  const title = TITLE.exec(text)?.[1]?.replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE_CHARS) ?? '';
  return title === '' ? 'a web page' : `a web page, "${title}"`;
}
