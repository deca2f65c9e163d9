import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { DatabaseAnswerRepository } from '../database/database-answer.repository.js';
import { Database } from '../database/database.js';
import { DatabaseLook } from './database-look.js';
import { MetricsRegistry } from './metrics.registry.js';

/** Whether the database answers, and this process's connections to it. */
@Injectable()
export class DatabaseMetrics {
  constructor(
    registry: MetricsRegistry,
    database: Database,
    answer: DatabaseAnswerRepository,
    clock: Clock,
  ) {
    const look = new DatabaseLook(clock, () => answer.touch(database));
    registry.gauge({
      name: 'bgc_database_up',
      help: '1 when the database answered within a second, looked at every 5 s at most',
      async collect() {
        this.set((await look.value()) ? 1 : 0);
      },
    });
    registry.gauge({
      name: 'bgc_database_connections',
      help: 'Connections of the pool of this process',
      labelNames: ['state'],
      collect() {
        this.set({ state: 'busy' }, database.load.busy);
        this.set({ state: 'idle' }, database.load.idle);
      },
    });
    registry.gauge({
      name: 'bgc_database_waiting',
      help: 'Statements and transactions that wait for a connection of the pool',
      collect() {
        this.set(database.load.waiting);
      },
    });
  }
}
