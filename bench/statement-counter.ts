import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const SIMPLE_QUERY = 'Q';
const PARSE = 'P';
const BIND = 'B';
const HEADER_BYTES = 5;

/** Stands between a service and PostgreSQL and counts statements by their first words. */
export class StatementCounter {
  private readonly counts = new Map<string, number>();
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly database: URL,
  ) {}

  static async start(databaseUrl: string): Promise<StatementCounter> {
    const server = createServer();
    const counter = new StatementCounter(server, new URL(databaseUrl));
    server.on('connection', (client) => counter.serve(client));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return counter;
  }

  /** The address of the database through the counter. */
  get url(): string {
    const { username, password, pathname, search } = this.database;
    const { port } = this.server.address() as AddressInfo;
    return `postgres://${username}:${password}@127.0.0.1:${port}${pathname}${search}`;
  }

  /** What was counted since the last time, the most frequent first. */
  take(): [statement: string, count: number][] {
    const taken = [...this.counts].sort(([, a], [, b]) => b - a);
    this.counts.clear();
    return taken;
  }

  stop(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private serve(client: Socket): void {
    const server = this.connectToDatabase();
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
    const statements = new SentStatements((text) => this.count(text));
    const messages = new FrontendMessages((type, payload) => statements.add(type, payload));
    client.on('data', (data) => {
      messages.add(data);
      server.write(data);
    });
    server.on('data', (data) => void client.write(data));
  }

  private count(text: string): void {
    const statement = text.trim().replaceAll(/\s+/g, ' ').slice(0, 70);
    this.counts.set(statement, (this.counts.get(statement) ?? 0) + 1);
  }

  private connectToDatabase(): Socket {
    const host = decodeURIComponent(this.database.hostname).replace(/^\[|\]$/g, '');
    const port = Number(this.database.port || 5432);
    return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  }
}

/** The statements that run on one connection: their text is sent once, and each run names it. */
class SentStatements {
  private readonly texts = new Map<string, string>();

  constructor(private readonly onRun: (text: string) => void) {}

  add(type: string, payload: string): void {
    const [first = '', second = ''] = payload.split('\0', 2);
    if (type === SIMPLE_QUERY) this.onRun(first);
    if (type === PARSE) this.texts.set(first, second);
    // The first text is the name of the portal.
    if (type === BIND) this.onRun(this.texts.get(second) ?? second);
  }
}

/**
 * Splits what a client of PostgreSQL sends into messages. The first has no type:
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
class FrontendMessages {
  private rest = Buffer.alloc(0);
  private isStarted = false;

  constructor(private readonly onMessage: (type: string, payload: string) => void) {}

  add(data: Buffer): void {
    this.rest = Buffer.concat([this.rest, data]);
    while (this.takeOne());
  }

  private takeOne(): boolean {
    const typeBytes = this.isStarted ? 1 : 0;
    if (this.rest.length < HEADER_BYTES) return false;
    const end = typeBytes + this.rest.readUInt32BE(typeBytes);
    if (this.rest.length < end) return false;
    const message = this.rest.subarray(0, end);
    this.rest = this.rest.subarray(end);
    if (this.isStarted)
      this.onMessage(String.fromCharCode(message[0]!), message.toString('utf8', HEADER_BYTES));
    this.isStarted = true;
    return true;
  }
}
