import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const ID = process.pid.toString(36);

/**
 * A network of its own behind one cable, whose far end a test can pull or make swallow what is sent. That a
 * packet is lost without a word can't be shown on one machine otherwise: whoever is asked answers by its kernel.
 */
export class FarNetwork {
  private readonly children: ChildProcess[] = [];
  private readonly name: string;
  private readonly nearLink: string;
  private readonly farLink: string;
  private readonly nearAddress: string;
  readonly address: string;

  /** `number` below 60 tells it from others of this process. */
  private constructor(number: number) {
    this.name = `bgc-${ID}-${number}`;
    [this.nearLink, this.farLink] = [`bgc${ID}${number}n`, `bgc${ID}${number}f`];
    // Of the addresses that are set apart for tests of networks: RFC 2544.
    const subnet = `198.18.${process.pid % 256}.${4 * number}`.replace(/\d+$/, '');
    [this.nearAddress, this.address] = [`${subnet}${4 * number + 1}`, `${subnet}${4 * number + 2}`];
  }

  /** @throws Error that says what is missing: root, or the program `ip` of iproute2. */
  static create(number: number): FarNetwork {
    if (process.getuid?.() !== 0)
      throw new Error('Only root may set up a network of its own: sudo npm run test:long');
    const network = new FarNetwork(number);
    try {
      network.setUp();
    } catch (error) {
      network.remove();
      throw new Error(`No network could be set up with "ip" (iproute2): ${String(error)}`);
    }
    return network;
  }

  /** Runs Node.js there; gives the lines that it prints. */
  run(...nodeArgs: string[]): AsyncIterableIterator<string> {
    const command = ['netns', 'exec', this.name, process.execPath, ...nodeArgs];
    const child = spawn('ip', command, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.children.push(child);
    return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** Pulls the far end of the cable. */
  pull(): void {
    this.ip('-n', this.name, 'link', 'set', this.farLink, 'down');
  }

  /** What arrives there is still taken, and whatever is sent back vanishes. */
  swallowAnswers(): void {
    this.ip('-n', this.name, 'route', 'add', 'blackhole', `${this.nearAddress}/32`);
  }

  remove(): void {
    for (const child of this.children) child.kill('SIGKILL');
    for (const what of [
      ['link', 'del', this.nearLink],
      ['netns', 'del', this.name],
    ])
      try {
        this.ip(...what);
      } catch {
        // It was never there, or went with the other one.
      }
  }

  private setUp(): void {
    const { name, nearLink, farLink } = this;
    this.ip('netns', 'add', name);
    this.ip('link', 'add', nearLink, 'type', 'veth', 'peer', 'name', farLink, 'netns', name);
    this.ip('address', 'add', `${this.nearAddress}/30`, 'dev', nearLink);
    this.ip('link', 'set', nearLink, 'up');
    this.ip('-n', name, 'address', 'add', `${this.address}/30`, 'dev', farLink);
    this.ip('-n', name, 'link', 'set', farLink, 'up');
    this.ip('-n', name, 'link', 'set', 'lo', 'up');
  }

  private ip(...args: string[]): void {
    execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  }
}
