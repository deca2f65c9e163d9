import net from 'node:net';
import { once } from 'node:events';

/** Stands between a pool and its server, and spoils the connection where a test says so. */
export interface DatabaseProxy {
  /** The address of the database through the proxy. */
  url: string;
  /** Passes the next statement that contains this text on, and breaks the connection instead of bringing the answer. */
  loseAnswerTo(text: string): void;
  /** From now on nothing comes back, as from a server that hangs. */
  fallSilent(): void;
  /** Breaks all connections and refuses new ones until `restore`. */
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Starts a proxy on a free port of the loopback address. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const connections = new Set<net.Socket>();
  let lost: string | undefined;
  let isSilent = false;
  let isCut = false;

  const server = net.createServer((client) => {
    const upstream = net.connect(addressOf(databaseUrl));
    let isLosing = false;
    for (const socket of [client, upstream]) {
      connections.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        connections.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    if (isCut) client.destroy();
    client.on('data', (data) => {
      if (lost !== undefined && data.includes(lost)) {
        lost = undefined;
        isLosing = true;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (isLosing) client.destroy();
      else if (!isSilent) client.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const breakAll = (): void => connections.forEach((socket) => socket.destroy());

  return {
    url: through(databaseUrl, (server.address() as net.AddressInfo).port),
    loseAnswerTo: (text) => (lost = text),
    fallSilent: () => (isSilent = true),
    cut: () => {
      isCut = true;
      breakAll();
    },
    restore: () => (isCut = isSilent = false),
    close: async () => {
      server.close();
      breakAll();
      await once(server, 'close');
    },
  };
}

function addressOf(databaseUrl: string): net.NetConnectOpts {
  const { hostname, port } = new URL(databaseUrl);
  const host = decodeURIComponent(hostname);
  if (host.startsWith('/')) return { path: `${host}/.s.PGSQL.${port || 5432}` };
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port || 5432) };
}

function through(databaseUrl: string, port: number): string {
  const { username, password, pathname, search } = new URL(databaseUrl);
  const credentials = password ? `${username}:${password}` : username;
  return `postgres://${credentials}@127.0.0.1:${port}${pathname}${search}`;
}
