import { describe, expect, it } from '@jest/globals';
import { OutboundPolicy } from './outbound-policy.js';

describe('without an allow-list', () => {
  const policy = new OutboundPolicy([]);

  it.each([
    ['127.0.0.1', 'loopback'],
    ['0.0.0.0', 'this host'],
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['169.254.169.254', 'metadata service'],
    ['198.18.0.1', 'benchmarks'],
    ['224.0.0.1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local with a zone'],
    ['fd00:ec2::254', 'metadata service'],
    ['::ffff:127.0.0.1', 'mapped'],
    ['::ffff:a9fe:a9fe', 'mapped, in hexadecimal'],
    ['::127.0.0.1', 'IPv4-compatible'],
    ['64:ff9b::7f00:1', 'NAT64'],
    ['2002:7f00:1::', '6to4'],
    ['2001::1', 'Teredo'],
    ['ff02::1', 'multicast'],
    ['2001:db8::1', 'documentation'],
    ['no address', 'not an address'],
    ['', 'nothing'],
  ])('%s is refused (%s)', (address) => {
    expect(policy.allowsAddress(address)).toBe(false);
  });

  it.each(['8.8.8.8', '::ffff:8.8.8.8', '2606:4700:4700::1111'])('%s is allowed', (address) => {
    expect(policy.allowsAddress(address)).toBe(true);
  });
});

describe('with an allow-list', () => {
  const policy = new OutboundPolicy(['10.0.0.0/8', '::1', 'fd00::/8', 'Internal.example.']);

  it.each([
    ['10.200.0.1', true],
    ['::ffff:10.200.0.1', true],
    ['192.168.0.1', false],
    ['::1', true],
    ['127.0.0.1', false],
    ['fd12::1', true],
    ['fe80::1', false],
  ])('%s: %s', (address, isAllowed) => {
    expect(policy.allowsAddress(address)).toBe(isAllowed);
  });

  it('allows a host by its whole name, however it is written', () => {
    expect(policy.allowsHost('internal.EXAMPLE')).toBe(true);
    expect(policy.allowsHost('internal.example.')).toBe(true);
    expect(policy.allowsHost('evil-internal.example')).toBe(false);
    expect(policy.allowsHost('a.internal.example')).toBe(false);
  });
});
