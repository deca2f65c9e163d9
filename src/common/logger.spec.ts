import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { toPublicId } from './ids.js';
import { Logger } from './logger.js';

const UUID = '01a22ec7-8cf7-722d-9192-addcf6022f42';

describe('a log line', () => {
  const lines: string[] = [];
  const logger = new Logger(pino({ base: null }, { write: (line) => lines.push(line) }));

  it('names a call as the API does, so that a person can look it up', () => {
    logger.info('background_call.swept', { callId: UUID, guard: UUID });
    expect(JSON.parse(lines.pop() ?? '')).toMatchObject({
      event: 'background_call.swept',
      callId: toPublicId('bgc', UUID),
      guard: UUID,
    });
  });

  it('says of a database error which rule was broken, and not by which row', () => {
    const error = Object.assign(new Error('violates check constraint'), {
      code: '23514',
      constraint: 'background_calls_failed_says_why',
      detail: 'Failing row contains ({"secret":1}).',
      where: 'secret',
    });
    logger.error(
      'background_call.end_refused',
      { callId: UUID },
      new Error('no', { cause: error }),
    );
    logger.error('background_call.end_refused', { callId: UUID }, error);
    expect(lines.join()).not.toContain('secret');
    expect(JSON.parse(lines.pop() ?? '')).toMatchObject({
      err: { message: error.message, code: '23514', constraint: error.constraint },
    });
  });

  it('takes anything that was thrown', () => {
    logger.warn('database.connection_lost', {}, 'text');
    expect(JSON.parse(lines.pop() ?? '')).toMatchObject({ err: 'text' });
    logger.warn('database.connection_lost', {}, null);
    expect(JSON.parse(lines.pop() ?? '')).toMatchObject({ event: 'database.connection_lost' });
  });
});
