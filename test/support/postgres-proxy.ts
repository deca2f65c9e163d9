import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const COMMIT = Buffer.from('COMMIT\0');

type Fault = 'cut-before-commit' | 'cut-after-commit';

/** Stands between the service and PostgreSQL, and cuts connections at points that a test names. */
export class PostgresProxy {
  /** While true every new connection is cut: the database is away. */
  isDown = false;
  private fault: Fault | undefined;
  private readonly sockets = new Set<Socket>();
  private onFault: (() => void) | undefined;

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {}

  static async start(databaseUrl: string): Promise<PostgresProxy> {
    const server = createServer();
    const proxy = new PostgresProxy(server, new URL(databaseUrl));
    server.on('connection', (client) => proxy.serve(client));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    const url = new URL('postgres://127.0.0.1');
    url.port = String((this.server.address() as AddressInfo).port);
    url.username = this.target.username;
    url.password = this.target.password;
    url.pathname = this.target.pathname;
    return url.href;
  }

  /** The next COMMIT does not reach the database, or its answer does not come back. */
  breakNextCommit(fault: Fault): Promise<void> {
    this.fault = fault;
    return new Promise((resolve) => (this.onFault = resolve));
  }

  /** Cuts every connection. */
  cutAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cutAll();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private serve(client: Socket): void {
    if (this.isDown) return void client.destroy();
    const server = this.connectToDatabase();
    const cut = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on('error', cut).on('close', () => {
        this.sockets.delete(socket);
        cut();
      });
    }
    let losesAnswer = false;
    client.on('data', (data) => {
      const fault = data.includes(COMMIT) ? this.takeFault() : undefined;
      if (fault === 'cut-before-commit') return cut();
      losesAnswer = fault === 'cut-after-commit';
      server.write(data);
    });
    server.on('data', (data) => (losesAnswer ? cut() : client.write(data)));
  }

  private takeFault(): Fault | undefined {
    const { fault } = this;
    this.fault = undefined;
    if (fault !== undefined) this.onFault?.();
    return fault;
  }

  private connectToDatabase(): Socket {
    const host = decodeURIComponent(this.target.hostname);
    const port = this.target.port === '' ? 5432 : Number(this.target.port);
    return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  }
}
