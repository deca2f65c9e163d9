/** What the replica that tried last saw of a server, as it is configured now. */
export interface ServerState {
  reachable: boolean;
  /** Why it was not reachable. */
  error: { code: string; message: string } | null;
  checkedAt: Date;
  /** Null: nobody will try again by itself. */
  nextTryAt: Date | null;
}

/** A state as replicas exchange it: their clocks may differ, so it carries durations besides. */
export interface StoredState extends ServerState {
  serverId: string;
  /** The revision of the server that was tried. */
  revision: number;
  /** Milliseconds since it was seen, when it was read. */
  ageMs: number;
  /** Milliseconds to the next try, when it was read; negative: it is due. */
  dueInMs: number | null;
}

/** One attempt to reach a server. */
export interface Sighting {
  serverId: string;
  revision: number;
  error: { code: string; message: string } | null;
  /** Null: nobody will try again by itself. */
  nextTryInMs: number | null;
}
