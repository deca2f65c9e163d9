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
});
