/** A request that this service does not send, or does not send on. */
export abstract class OutboundRefusedError extends Error {}

/** The other side wants the request to go elsewhere; nothing is sent there. */
export class RedirectRefusedError extends OutboundRefusedError {
  constructor(
    readonly status: number,
    location: string | null,
    from: URL,
  ) {
    super(`HTTP ${status}: a redirect to ${placeOf(location, from)} is not followed`);
  }
}

/** The address is private, loopback, link-local or reserved, and the allow-list does not name it. */
export class AddressRefusedError extends OutboundRefusedError {
  constructor(host: string) {
    super(`${host} is not a public address, and BGC_OUTBOUND_ALLOW does not name it`);
  }
}

/** The other side answered with a status that HTTP does not have, or that nobody asked for. */
export class UnknownStatusError extends Error {
  constructor(status: number) {
    super(`it answered with status ${status}, which is none of an answer`);
  }
}

/** Paths and queries may hold secrets. */
function placeOf(location: string | null, from: URL): string {
  if (location === null) return 'nowhere';
  if (!URL.canParse(location, from.href)) return 'what is no address';
  const { origin, protocol } = new URL(location, from);
  if (origin === from.origin) return `another address of ${origin}`;
  return origin === 'null' ? `an address of ${protocol}` : origin;
}
