/** A call of which a message tells. */
export interface ToldCall {
  /** UUID. */
  callId: string;
  /** Milliseconds since the call ended, on the database's clock, at the moment it is asked. */
  sinceEndMs: number;
}
