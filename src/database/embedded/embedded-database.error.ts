/** The embedded database cannot be used here; the message says what to change. */
export class EmbeddedDatabaseError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'EmbeddedDatabaseError';
  }
}
