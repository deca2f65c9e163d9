import type { Locale } from '../../common/locale.js';

interface HandoverTexts {
  moved: (callId: string) => string;
  /** Follows when the call waits for a slot first. */
  queued: string;
  /** Follows when the call moved because it needs input. */
  asks: string;
  whatToDo: string;
}

const TEXTS: Record<Locale, HandoverTexts> = {
  'zh-CN': {
    moved: (callId) => `已转为后台执行（后台调用 ${callId}），完成后系统会把结果发给你。`,
    queued: '它正在排队，轮到时会自动开始。',
    asks: '它需要输入，系统会另外把问题发给你。',
    whatToDo: '请现在结束本轮，告诉用户任务正在后台执行；不要等待，也不要轮询。',
  },
  en: {
    moved: (callId) =>
      `Moved to the background (background call ${callId}); the system will send you the result when it ends. `,
    queued: 'It waits in a queue and starts by itself. ',
    asks: 'It needs input; the system will send you the question in another message. ',
    whatToDo:
      'End this turn now and tell the user that the work goes on in the background; do not wait and do not poll.',
  },
};

/**
 * What the model reads in place of a result when its call was handed over; `callId` as the API shows it.
 * `condition`: what stands between the call and its result, beside time.
 */
export function handoverText(
  locale: Locale,
  callId: string,
  condition?: 'queued' | 'asks',
): string {
  const texts = TEXTS[locale];
  return texts.moved(callId) + (condition ? texts[condition] : '') + texts.whatToDo;
}
