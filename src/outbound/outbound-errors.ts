/** A request that this service does not send, or does not send on. */
export abstract class OutboundRefusedError extends Error {}

/** The other side wants the request to go elsewhere; nothing is sent there. */
export class RedirectRefusedError extends OutboundRefusedError {
  constructor(
    readonly status: number,
    location: string | null,
  ) {
    super(`HTTP ${status}: a redirect to ${location ?? 'nowhere'} is not followed`);
  }
}

/** The address is private, loopback, link-local or reserved, and the allow-list does not name it. */
export class AddressRefusedError extends OutboundRefusedError {
  constructor(host: string) {
    super(`${host} is not a public address, and BGC_OUTBOUND_ALLOW does not name it`);
  }
}
