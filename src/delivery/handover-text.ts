import type { Locale } from '../common/locale.js';

interface HandoverTexts {
  moved: (callId: string) => string;
  /** Follows when the call waits for a slot first. */
  waits: string;
  whatToDo: string;
}

const TEXTS: Record<Locale, HandoverTexts> = {
  'zh-CN': {
    moved: (callId) => `已转为后台执行（后台调用 ${callId}），完成后系统会把结果发给你。`,
    waits: '它正在排队，轮到时会自动开始。',
    whatToDo: '请现在结束本轮，告诉用户任务正在后台执行；不要等待，也不要轮询。',
  },
  en: {
    moved: (callId) =>
      `Moved to the background (background call ${callId}); the system will send you the result when it ends. `,
    waits: 'It waits in a queue and starts by itself. ',
    whatToDo:
      'End this turn now and tell the user that the work goes on in the background; do not wait and do not poll.',
  },
};

/** What the model reads in place of a result when its call was handed over; `callId` as the API shows it. */
export function handoverText(locale: Locale, callId: string, isQueued = false): string {
  const { moved, waits, whatToDo } = TEXTS[locale];
  return moved(callId) + (isQueued ? waits : '') + whatToDo;
}
