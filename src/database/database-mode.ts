/** Which kind of database this process runs on. */
export abstract class DatabaseMode {
  /** True: a server of our own, in the data folder and for this process alone. */
  abstract readonly isEmbedded: boolean;
}
