import { describe, expect, it } from '@jest/globals';
import { extensionOf, servedType } from './media-type.js';

const OCTETS = 'application/octet-stream';

describe('a media type from an MCP server', () => {
  it.each([
    ['image/png', 'image/png'],
    [' IMAGE/JPEG ; q=1', 'image/jpeg'],
    ['image/x-portable-pixmap', 'image/x-portable-pixmap'],
    ['text/csv; charset=gb18030', 'text/csv; charset=utf-8'],
    ['application/json', 'application/json'],
  ])('is served as what it is when it is harmless: %j', (given, served) => {
    expect(servedType(given)).toBe(served);
  });

  it.each([
    ...['text/html', 'TEXT/HTML; charset=utf-8', 'image/svg+xml', 'application/xhtml+xml'],
    ...['text/javascript', 'application/javascript', 'text/xml', 'image/foo+xml', 'text/xsl'],
    ...['multipart/x-mixed-replace', 'message/rfc822', 'application/x-unknown', 'text/css'],
    ...['image/png\r\nset-cookie: a=b', 'image/png\nx', 'image/图', 'image', 'image/', '/png', ''],
    ...['constructor', '__proto__', `image/${'x'.repeat(200)}`, null, undefined, 7, ['image/png']],
  ])('is served as bytes when it is active, unknown or none: %j', (given) => {
    expect(servedType(given)).toBe(OCTETS);
  });

  it.each([
    ['image/png', false, 'png'],
    ['text/html', true, 'html'],
    ['application/x-sh', true, 'txt'],
    ['application/x-sh', false, 'bin'],
    ['image/../../x', false, 'bin'],
    ['image/x/../../x', false, 'bin'],
    [undefined, false, 'bin'],
  ])('names the file of %j (text: %j) with a safe ending', (given, isText, extension) => {
    expect(extensionOf(given, isText)).toBe(extension);
  });
});
