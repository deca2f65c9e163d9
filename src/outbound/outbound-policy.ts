import ipaddr from 'ipaddr.js';
import { isHostName, type Network, toNetwork } from '../common/network.js';

/**
 * Which addresses may be connected to: public ones, and what the allow-list names. Everything else is
 * refused: loopback, private and link-local networks (metadata services live there), multicast,
 * reserved ranges, and IPv6 forms that carry such an IPv4 address.
 */
export class OutboundPolicy {
  private readonly networks: Network[];
  private readonly hosts: ReadonlySet<string>;

  /** @param allow addresses, networks in CIDR notation and host names */
  constructor(allow: readonly string[]) {
    this.networks = allow.map(toNetwork).filter((network) => network !== undefined);
    this.hosts = new Set(allow.filter(isHostName).map(normalHostName));
  }

  /** Whether every address of this host may be connected to. */
  allowsHost(name: string): boolean {
    return this.hosts.has(normalHostName(name));
  }

  /** @param text an IPv4 or IPv6 address, a zone index included */
  allowsAddress(text: string): boolean {
    const withoutZone = text.split('%')[0] ?? '';
    if (!ipaddr.isValid(withoutZone)) return false;
    const address = ipaddr.process(withoutZone);
    return address.range() === 'unicast' || this.networks.some((network) => isIn(address, network));
  }
}

function isIn(address: Network[0], [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

function normalHostName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
