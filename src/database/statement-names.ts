/** Statements with conditions that are put together at run time have many texts: beyond this they stay unnamed. */
const MOST = 300;

/**
 * Names under which a connection keeps a statement, so that the server parses and plans it once and not
 * at each use. A name stands for the same text on every connection of this process.
 */
export class StatementNames {
  private readonly names = new Map<string, string>();

  constructor(private readonly most = MOST) {}

  /** Undefined: it is planned for this one use. */
  of(sql: string): string | undefined {
    const known = this.names.get(sql);
    if (known !== undefined || this.names.size >= this.most) return known;
    const name = `statement_${this.names.size}`;
    this.names.set(sql, name);
    return name;
  }
}
