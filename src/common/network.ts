import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The leading bits of an IPv6 address that carries an IPv4 address. */
const MAPPED_BITS = 96;

/** An address and how many of its leading bits count. */
export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Undefined when the text is neither an address nor a network in CIDR notation, each written in full: a
 * short or octal form would be read as another network than the one that is meant.
 */
export function toNetwork(text: string): Network | undefined {
  const [, host = '', bits] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  if (isIP(host) === 0) return undefined;
  const address = ipaddr.parse(host);
  const length = address.toByteArray().length * 8;
  const given = bits === undefined ? length : Number(bits);
  return given > length ? undefined : unmapped(address, given);
}

/** What carries an IPv4 address is compared as such; of a network wider than that part nothing is meant. */
function unmapped(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): Network | undefined {
  if (!(address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress())) return [address, bits];
  return bits < MAPPED_BITS ? undefined : [address.toIPv4Address(), bits - MAPPED_BITS];
}

/** Labels of letters, digits, - and _, with dots between them. */
const HOST_NAME =
  /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?$/i;

export function isHostName(text: string): boolean {
  const isNumeric = /^(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d+))*\.?$/i.test(text);
  return !isNumeric && text.length <= 253 && HOST_NAME.test(text);
}
