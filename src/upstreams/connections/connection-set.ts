import type { ConnectionScope } from './connection-scope.js';
import { SharedConnection, type SharedConnectionParts } from './shared-connection.js';
import { UpstreamFailure } from '../upstream-failure.js';

interface Usable {
  connection: SharedConnection;
  serverKey: string;
}

/** The connections of this process, of each server only so many. */
export class ConnectionSet {
  /** Those that may be borrowed, by the key of their scope; the one that was longest not borrowed comes first. */
  private readonly usable = new Map<string, Usable>();
  /** Those of which anything is left, such as calls in flight or a program that is being ended. */
  private readonly open = new Set<SharedConnection>();

  find({ key }: ConnectionScope): SharedConnection | undefined {
    const found = this.usable.get(key);
    if (found === undefined) return undefined;
    this.usable.delete(key);
    this.usable.set(key, found);
    return found.connection;
  }

  /**
   * Opens one. Where the server has `limit` of them, the one that was longest not borrowed makes room.
   * @throws UpstreamFailure when all of them are in use.
   */
  add(
    { key, serverKey }: ConnectionScope,
    limit: number,
    parts: Pick<SharedConnectionParts, 'connect' | 'idleMs'>,
  ): SharedConnection {
    this.makeRoom(serverKey, limit);
    const connection = new SharedConnection({
      ...parts,
      leavePool: (leaving) => {
        if (this.usable.get(key)?.connection === leaving) this.usable.delete(key);
      },
      onGone: (gone) => this.open.delete(gone),
    });
    this.usable.set(key, { connection, serverKey });
    this.open.add(connection);
    return connection;
  }

  /** Opens one that is in no scope: only who opened it may borrow it. */
  addApart(connect: SharedConnectionParts['connect']): SharedConnection {
    const connection = new SharedConnection({
      connect,
      idleMs: () => 0,
      leavePool: () => undefined,
      onGone: (gone) => this.open.delete(gone),
    });
    this.open.add(connection);
    return connection;
  }

  /** Closes the one of this scope at once, also while it is being opened. */
  async close({ key }: ConnectionScope): Promise<void> {
    await this.usable.get(key)?.connection.close();
  }

  /** Drains those of servers that are not among these. */
  keepOnly(serverKeys: ReadonlySet<string>): void {
    for (const { connection, serverKey } of this.usable.values())
      if (!serverKeys.has(serverKey)) connection.retire();
  }

  /** Resolves when nothing is left of any. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.open].map((connection) => connection.close()));
  }

  private makeRoom(serverKey: string, limit: number): void {
    const ofServer = [...this.usable.values()].filter((one) => one.serverKey === serverKey);
    if (ofServer.length < limit) return;
    const idle = ofServer.find(({ connection }) => connection.isIdle);
    if (idle === undefined)
      throw new UpstreamFailure(
        'upstream_unreachable',
        `All ${limit} connections that this process may have to the upstream are in use.`,
      );
    idle.connection.retire();
  }
}
