import type { Locale } from '../../common/locale.js';

interface DurationWords {
  underOneSecond: string;
  unit(count: number, unit: DurationUnit): string;
}

type DurationUnit = 'day' | 'hour' | 'minute' | 'second';

const SECONDS: [DurationUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const ZH_UNITS: Record<DurationUnit, string> = {
  day: '天',
  hour: '小时',
  minute: '分钟',
  second: '秒',
};
const WORDS: Record<Locale, DurationWords> = {
  'zh-CN': {
    underOneSecond: '不到 1 秒',
    unit: (count, unit) => `${count} ${ZH_UNITS[unit]}`,
  },
  en: {
    underOneSecond: 'less than 1 second',
    unit: (count, unit) => `${count} ${unit}${count === 1 ? '' : 's'}`,
  },
};
/** More would be exactness that nobody reads. */
const MAX_UNITS = 2;

/** A duration in words, cut to whole seconds and to its two largest units: `1 hour 3 minutes`. */
export function durationText(locale: Locale, ms: number): string {
  const words = WORDS[locale];
  let rest = Math.floor(ms / 1_000);
  if (rest < 1) return words.underOneSecond;
  const first = SECONDS.findIndex(([, seconds]) => rest >= seconds);
  const parts: string[] = [];
  for (const [unit, seconds] of SECONDS.slice(first, first + MAX_UNITS)) {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    if (count > 0) parts.push(words.unit(count, unit));
  }
  return parts.join(' ');
}
