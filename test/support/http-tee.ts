import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy in front of an HTTP server that writes down the bodies of the requests, and can spoil some. */
export class HttpTee {
  readonly bodies: string[] = [];
  /** Asked about each body before it is passed on: a status to answer instead, or 0 to break the connection. */
  spoil: (body: string) => number | undefined = () => undefined;

  private constructor(private readonly http: Server) {}

  static async start(target: string): Promise<HttpTee> {
    const http = createServer();
    const tee = new HttpTee(http);
    http.on('request', (incoming: IncomingMessage, outgoing) => {
      const { method, headers, url = '' } = incoming;
      const passed = request(new URL(url, target), { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
        answer.on('error', () => outgoing.destroy());
      });
      passed.on('error', () => outgoing.destroy());
      outgoing.on('close', () => passed.destroy());
      let body = '';
      incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
      incoming.on('end', () => {
        tee.bodies.push(body);
        const status = tee.spoil(body);
        if (status === undefined) return passed.end(body);
        passed.destroy();
        if (status === 0) return outgoing.destroy();
        return outgoing.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    return tee;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.http.close(resolve));
    this.http.closeAllConnections();
    await closed;
  }
}
