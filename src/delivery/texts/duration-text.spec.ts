import { describe, expect, it } from '@jest/globals';
import { durationText } from './duration-text.js';

describe('durations in words', () => {
  it.each([
    [-5_000, '不到 1 秒', 'less than 1 second'],
    [999, '不到 1 秒', 'less than 1 second'],
    [1_999, '1 秒', '1 second'],
    [60_000, '1 分钟', '1 minute'],
    [125_000, '2 分钟 5 秒', '2 minutes 5 seconds'],
    [3_605_000, '1 小时', '1 hour'],
    [3_780_000, '1 小时 3 分钟', '1 hour 3 minutes'],
    [93_600_000, '1 天 2 小时', '1 day 2 hours'],
  ])('are whole seconds in their two largest units: %i ms', (ms, zh, en) => {
    expect(durationText('zh-CN', ms)).toBe(zh);
    expect(durationText('en', ms)).toBe(en);
  });
});
