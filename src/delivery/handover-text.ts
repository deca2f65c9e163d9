import type { Locale } from '../common/locale.js';

const TEXTS: Record<Locale, (callId: string) => string> = {
  'zh-CN': (callId) =>
    `已转为后台执行（后台调用 ${callId}），完成后系统会把结果发给你。` +
    '请现在结束本轮，告诉用户任务正在后台执行；不要等待，也不要轮询。',
  en: (callId) =>
    `Moved to the background (background call ${callId}); the system will send you the result when it ends. ` +
    'End this turn now and tell the user that the work goes on in the background; do not wait and do not poll.',
};

/** What the model reads in place of a result when its call was handed over; `callId` as the API shows it. */
export function handoverText(locale: Locale, callId: string): string {
  return TEXTS[locale](callId);
}
