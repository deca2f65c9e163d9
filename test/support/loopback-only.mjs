/** Loaded into a server of others with `--import`: it listens on a free port of loopback, whatever it asks for. */
import { Server } from 'node:net';

const { listen } = Server.prototype;

Server.prototype.listen = function (_port, ...more) {
  this.once('listening', () => process.send({ port: this.address().port }));
  return listen.call(
    this,
    { host: '127.0.0.1', port: 0 },
    more.find((one) => typeof one === 'function'),
  );
};
