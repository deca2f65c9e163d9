import { describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../common/ids.js';
import { fileName, isOfAny, isWrittenByAny, temporaryName } from './result-file-name.js';

const ID = '01935f2e-0000-7000-8000-0000000000aa';
const OTHER = '01935f2e-0000-7000-8000-0000000000ab';
const UUID = '01935f2e-0000-7000-8000-0000000000ac';
const CALL = toPublicId('bgc', ID);
const FIRST = { id: ID };
const TAKER = { id: ID, takenBy: '01935f2e-0000-7000-8000-0123456789ab' };
const NEXT_TAKER = { id: ID, takenBy: '01935f2e-0000-7000-8000-0123456789ac' };

describe('the name of a result file', () => {
  it('is the call and the part, and says who wrote it when that is not the first owner', () => {
    expect(fileName(FIRST, 0, 'txt')).toBe(`${CALL}.txt`);
    expect(fileName(FIRST, 12, 'png')).toBe(`${CALL}-12.png`);
    expect(fileName(TAKER, 0, 'txt')).toBe(`${CALL}.456789ab.txt`);
    expect(fileName(TAKER, 12, 'png')).toBe(`${CALL}-12.456789ab.png`);
  });

  it('is known as its writer’s and as nobody else’s, for every name that can be', () => {
    const writers = [FIRST, TAKER, NEXT_TAKER, { id: OTHER }, { ...TAKER, id: OTHER }];
    for (const writer of writers) {
      const names = [
        fileName(writer, 0, 'mp3'),
        fileName(writer, 99, '7z'),
        temporaryName(writer, UUID),
      ];
      for (const name of names) {
        const known = writers.filter((each) => isWrittenByAny([each])(name));
        expect([name, known]).toEqual([name, [writer]]);
        expect([name, isOfAny([ID])(name)]).toEqual([name, writer.id === ID]);
      }
    }
  });

  it('is known as that of any of several writers', () => {
    const isOfOne = isWrittenByAny([FIRST, { ...TAKER, id: OTHER }]);
    expect(isOfOne(fileName(FIRST, 1, 'txt'))).toBe(true);
    expect(isOfOne(fileName({ ...TAKER, id: OTHER }, 0, 'txt'))).toBe(true);
    expect(isOfOne(fileName(TAKER, 0, 'txt'))).toBe(false);
    expect(isOfOne(fileName({ id: OTHER }, 0, 'txt'))).toBe(false);
  });

  it('is nobody’s when it is of another kind', () => {
    for (const name of [CALL, `${CALL}.`, `${CALL}.a b.txt`, 'notes.txt', '', `x${CALL}.txt`])
      for (const writer of [FIRST, TAKER])
        expect([name, isWrittenByAny([writer])(name)]).toEqual([name, false]);
  });
});
