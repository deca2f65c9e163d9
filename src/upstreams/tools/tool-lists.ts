import type { Clock } from '../../common/clock.js';
import { within } from '../../common/within.js';
import { connectionKey, type McpServer } from '../mcp-server.js';
import { maskFailure } from '../connections/masked-call.js';
import type { BorrowedSession } from '../pooled-call.js';
import { secretMask } from '../connections/secret-mask.js';
import { ToolCache } from './tool-cache.js';
import { type TaskSupport, taskSupportOf } from './tool-flaw.js';
import { type ToolList, walkToolList } from './tool-list.js';
import type { UpstreamSession } from '../upstream-session.js';

/** A call does not wait longer to learn whether its tool wants to be run as a task. */
const LIST_MS = 10_000;

/** What the servers offer, asked for over the connections of the pool. */
export class ToolLists {
  private readonly cache: ToolCache;

  constructor(
    private readonly borrow: (server: McpServer) => Promise<BorrowedSession>,
    clock: Clock,
  ) {
    this.cache = new ToolCache(clock);
  }

  /** Every page, asked for anew. @throws UpstreamFailure */
  renew(server: McpServer): Promise<ToolList> {
    return this.cache.renew(connectionKey(server), () => this.ask(server));
  }

  /** As it was told in the last 5 minutes, asked for where needed. @throws UpstreamFailure */
  get(server: McpServer): Promise<ToolList> {
    return this.cache.get(connectionKey(server), () => this.ask(server));
  }

  /** A tool that is not listed, or whose list is not to be had, is called plainly. */
  async taskSupport(server: McpServer, tool: string): Promise<TaskSupport> {
    const listing = this.get(server).catch(() => undefined);
    const isInTime = await within(LIST_MS, listing);
    const told = isInTime ? (await listing)?.tools.find(({ name }) => name === tool) : undefined;
    return told === undefined ? 'forbidden' : taskSupportOf(told);
  }

  /** A server that was connected to anew may be another one by now. */
  follow(server: McpServer, session: UpstreamSession): void {
    const key = connectionKey(server);
    this.cache.expire(key);
    session.onToolsChanged(() => this.cache.forget(key));
  }

  keepOnly(keys: ReadonlySet<string>): void {
    this.cache.keepOnly(keys);
  }

  private async ask(server: McpServer): Promise<ToolList> {
    const lease = await this.borrow(server);
    try {
      const listing = walkToolList((cursor) => lease.session.listTools(cursor));
      return await maskFailure(listing, secretMask(server));
    } finally {
      lease.giveBack();
    }
  }
}
