import { describe, expect, it } from '@jest/globals';
import type { McpServer } from '../mcp-server.js';
import { secretMask } from './secret-mask.js';

const COMMON = { id: '1', name: 'x', title: 'x', enabled: true, sharing: 'shared' as const };

function ofHeaders(headers: Record<string, string>): McpServer {
  return { ...COMMON, transport: 'http', url: 'http://x', headers };
}

describe('the mask of secrets', () => {
  const basic = `Basic ${Buffer.from('user:pass"word').toString('base64')}`;
  const mask = secretMask(ofHeaders({ authorization: 'Bearer t/ken-1', 'x-key': 'key-2', n: '1' }));

  it.each([
    ['a whole value', 'got Bearer t/ken-1!', 'got ***!'],
    ['the credentials without their scheme', 'token t/ken-1, key key-2', 'token ***, key ***'],
    ['a value in an address', '?key=t%2Fken-1&n=1', '?key=***&n=1'],
    ['the beginning of a value where a text was cut', 'you sent t/ken-', 'you sent ***'],
    ['nothing else', 'Bearer of 1 key', 'Bearer of 1 key'],
  ])('covers %s', (_what, text, masked) => {
    expect(mask(text)).toBe(masked);
  });

  it('covers the password of Basic, also as it stands in JSON', () => {
    const ofBasic = secretMask(ofHeaders({ authorization: basic }));
    expect(ofBasic(`pass"word ${JSON.stringify({ p: 'user:pass"word' })}`)).toBe('*** {"p":"***"}');
  });

  it('covers the longer one of two values first', () => {
    expect(secretMask(ofHeaders({ a: 'long', b: 'longer' }))('longer long')).toBe('*** ***');
  });

  it('covers the variables of a program', () => {
    const env = { TOKEN: 'secret-3' };
    const program: McpServer = { ...COMMON, transport: 'stdio', command: 'x', args: [], env };
    expect(secretMask(program)('TOKEN=secret-3')).toBe('TOKEN=***');
  });
});
