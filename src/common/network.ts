import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address and how many of its leading bits count. */
export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Undefined when the text is neither an address nor a network in CIDR notation. */
export function toNetwork(text: string): Network | undefined {
  if (isIP(text) !== 0) {
    const address = ipaddr.process(text);
    return [address, address.toByteArray().length * 8];
  }
  return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined;
}

export function isHostName(text: string): boolean {
  return /^(?!\d+(?:\.\d+)*\.?$)[a-z0-9_](?:[a-z0-9._-]{0,251}[a-z0-9_.])?$/i.test(text);
}
