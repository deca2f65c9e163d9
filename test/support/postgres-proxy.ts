import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The name under which the service's LISTEN connection introduces itself. */
const LISTENER = 'background-calls listener';

/** What a server says to a new connection when that may ask: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');

interface Break {
  text: string;
  /** `late`: it reaches the database when the test says so, long after the service has lost the connection. */
  when: 'before' | 'after' | 'late';
  /** Only on a connection that has carried this before. */
  within: string;
  happened: (deliver: () => void) => void;
}

/** Stands between the service and PostgreSQL, and spoils connections where a test says so. */
export class PostgresProxy {
  private readonly sockets = new Set<Socket>();
  private readonly listeners = new Set<Socket>();
  private isCut = false;
  private areListenersCut = false;
  private isSilent = false;
  private endsNextAtItsStart = false;
  private nextBreak: Break | undefined;

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {}

  /** Starts on a free port of the loopback address. */
  static async start(databaseUrl: string): Promise<PostgresProxy> {
    const server = createServer();
    const proxy = new PostgresProxy(server, new URL(databaseUrl));
    server.on('connection', (client) => proxy.serve(client));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  /** The address of the database through the proxy. */
  get url(): string {
    const { username, password, pathname, search } = this.target;
    const credentials = password === '' ? username : `${username}:${password}`;
    const { port } = this.server.address() as AddressInfo;
    return `postgres://${credentials}@127.0.0.1:${port}${pathname}${search}`;
  }

  /**
   * Breaks the connection at the next statement that contains this text: before it reaches the
   * database, or instead of bringing its answer. Resolves when that has happened. `within`: only on a
   * connection that carries this text from now on.
   */
  async breakNext(text: string, when: 'before' | 'after', within = ''): Promise<void> {
    await new Promise((happened) => (this.nextBreak = { text, when, within, happened }));
  }

  /** Breaks the connection before such a statement, too, which the database gets when `deliver` is called. */
  async delayNext(text: string, within: string): Promise<{ deliver: () => void }> {
    return new Promise((resolve) => {
      const happened = (deliver: () => void): void => resolve({ deliver });
      this.nextBreak = { text, when: 'late', within, happened };
    });
  }

  /** The next connection is ended by the server in the very packet that says that it is ready. */
  endNextAtItsStart(): void {
    this.endsNextAtItsStart = true;
  }

  /** From now on nothing comes back, as from a server that hangs. */
  fallSilent(): void {
    this.isSilent = true;
  }

  /** Breaks all connections and refuses new ones until `restore`. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  /** Breaks the LISTEN connections and refuses new ones until `restore`; statements go on. */
  cutListeners(): void {
    this.areListenersCut = true;
    for (const socket of this.listeners) socket.destroy();
  }

  restore(): void {
    this.isCut = this.areListenersCut = this.isSilent = false;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private serve(client: Socket): void {
    if (this.isCut) return void client.destroy();
    const server = this.connectToDatabase();
    let isHeld = false;
    const cut = (): void => {
      client.destroy();
      if (!isHeld) server.destroy();
    };
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on('error', cut).on('close', () => {
        this.sockets.delete(socket);
        this.listeners.delete(socket);
        cut();
      });
    }
    const carried = new Set<string>();
    let lost: Break | undefined;
    client.on('data', (data) => {
      if (data.includes(LISTENER)) this.listeners.add(client);
      if (this.areListenersCut && this.listeners.has(client)) return cut();
      const broken = this.takeBreak(data, carried);
      isHeld = broken?.when === 'late';
      if (broken && broken.when !== 'after') {
        cut();
        return broken.happened(() => server.end(data));
      }
      lost = broken;
      server.write(data);
    });
    server.on('data', (data) => {
      if (lost) {
        cut();
        lost.happened(() => undefined);
      } else if (this.endsNextAtItsStart && data.subarray(-READY.length).equals(READY)) {
        this.endsNextAtItsStart = false;
        client.end(Buffer.concat([data, endOfSession()]));
      } else if (!this.isSilent) client.write(data);
    });
  }

  private takeBreak(data: Buffer, carried: Set<string>): Break | undefined {
    const found = this.nextBreak;
    if (found === undefined) return undefined;
    if (data.includes(found.within)) carried.add(found.within);
    if (!carried.has(found.within) || !data.includes(found.text)) return undefined;
    this.nextBreak = undefined;
    return found;
  }

  private connectToDatabase(): Socket {
    const host = decodeURIComponent(this.target.hostname).replace(/^\[|\]$/g, '');
    const port = Number(this.target.port || 5432);
    return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  }
}

/** ErrorResponse: admin_shutdown. */
function endOfSession(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0', 'latin1');
  const head = Buffer.from('E\0\0\0\0', 'latin1');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
