import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Injectable } from '@nestjs/common';
import { Logger } from '../../../common/logger.js';
import { ChildGroup } from './child-group.js';
import { ProgramWatchdog } from './program-watchdog.js';

export interface Program {
  command: string;
  args: readonly string[];
  /** The whole environment. */
  env: Record<string, string>;
}

/** Starts programs, and knows those that run: none outlives this process for long, however it ends. */
@Injectable()
export class ProgramStarter {
  private readonly watchdog: ProgramWatchdog;
  private readonly running = new Set<ChildGroup>();
  private readonly killAll = (): void => this.running.forEach((group) => group.kill());

  constructor(private readonly logger: Logger) {
    this.watchdog = new ProgramWatchdog(logger);
  }

  /** Without a shell. @throws the system's error when that fails. */
  async start({ command, args, env }: Program): Promise<ChildGroup> {
    const child = this.watchdog.start(() =>
      spawn(command, args, { env, detached: true, shell: false, stdio: 'pipe' }),
    );
    await once(child, 'spawn');
    const group = new ChildGroup(child);
    this.begun(group);
    void group.ended.then((isGone) => {
      this.over(group);
      const { id: groupId } = group;
      if (!isGone) this.logger.error('upstream_program.not_ended', { command, groupId });
    });
    return group;
  }

  /** Also killed when this process ends at once, without the wait of the watchdog. */
  private begun(group: ChildGroup): void {
    if (this.running.size === 0) process.on('exit', this.killAll);
    this.running.add(group);
  }

  private over(group: ChildGroup): void {
    this.watchdog.forget(group.id);
    this.running.delete(group);
    if (this.running.size === 0) process.off('exit', this.killAll);
  }
}
