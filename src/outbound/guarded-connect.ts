import { type LookupAddress, type LookupOptions, lookup as dnsLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { AddressRefusedError } from './outbound-errors.js';
import type { OutboundPolicy } from './outbound-policy.js';

type LookupAnswer = Parameters<LookupFunction>[2];

/**
 * Connects only where the policy allows it. What counts are the addresses that are connected to, not the
 * name: they are looked at after the name was resolved, and it is they that the socket takes.
 */
export function guardedConnector(
  policy: OutboundPolicy,
  options: buildConnector.BuildOptions,
): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: guardedLookup(policy) });
  return (target, callback) => {
    const literal = target.hostname.replace(/^\[|\]$/g, '');
    // A socket resolves no literal, so the lookup never sees one.
    if (isIP(literal) !== 0 && !policy.allowsAddress(literal))
      callback(new AddressRefusedError(literal), null);
    else connect(target, callback);
  };
}

function guardedLookup(policy: OutboundPolicy): LookupFunction {
  return (hostname: string, options: LookupOptions, answer: LookupAnswer) => {
    dnsLookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return answer(error, '');
      const isAllowed =
        policy.allowsHost(hostname) ||
        addresses.every(({ address }) => policy.allowsAddress(address));
      const [first] = addresses;
      if (!isAllowed || first === undefined) return answer(new AddressRefusedError(hostname), '');
      if (options.all) answer(null, addresses);
      else answer(null, first.address, first.family);
    });
  };
}
