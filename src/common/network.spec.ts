import { describe, expect, it } from '@jest/globals';
import { isHostName, toNetwork } from './network.js';

const written = (text: string): string | undefined => {
  const network = toNetwork(text);
  return network && `${network[0].toString()}/${network[1]}`;
};

describe('a network', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['192.168.1.1', '192.168.1.1/32'],
    ['::1', '::1/128'],
    ['fd00::/8', 'fd00::/8'],
    ['::ffff:10.0.0.1', '10.0.0.1/32'],
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
  ])('%s is %s', (text, expected) => {
    expect(written(text)).toBe(expected);
  });

  it.each([
    ...['192.168/16', '127/8', '10/8', '0/0', '010.0.0.0/8', '0x0a.0.0.0/8', '10.0.0.0/08'],
    ...['10.0.0.0/33', '::/129', '10.0.0.0/', '/8', '10.0.0.0/8/8', '::ffff:10.0.0.0/90', 'a', ''],
  ])('%s is none: it would be read as another one than is meant', (text) => {
    expect(toNetwork(text)).toBeUndefined();
  });
});

describe('a host name', () => {
  it.each(['localhost', 'a-b.example.', 'x1.internal', 'under_score.example'])(
    'may be %s',
    (text) => {
      expect(isHostName(text)).toBe(true);
    },
  );

  it.each(['a..b', '-a', 'a-', '*.example', '0x7f000001', '127.1', '10', 'a b', 'http://a', ''])(
    'is not %s',
    (text) => {
      expect(isHostName(text)).toBe(false);
    },
  );
});
