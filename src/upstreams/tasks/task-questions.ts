import type { QuestionAnswer, UpstreamQuestion } from '../upstream-call.js';
import type { QuestionListener } from '../upstream-session.js';

/**
 * What one task asks. A server that gives a question up can't always say so: the stream on which it would
 * is over. That the task no longer needs input says it too.
 */
export class TaskQuestions {
  private readonly open = new Set<AbortController>();

  constructor(private readonly listener: QuestionListener) {}

  async put(question: UpstreamQuestion): Promise<QuestionAnswer> {
    const unwanted = new AbortController();
    const { signal } = unwanted;
    const { withdrawn = signal } = question;
    this.open.add(unwanted);
    try {
      const asked = { ...question, withdrawn: AbortSignal.any([withdrawn, signal]) };
      return await this.listener(asked);
    } finally {
      this.open.delete(unwanted);
    }
  }

  /** What is returned withdraws those that are open now, and none that comes after. */
  mark(): () => void {
    const open = [...this.open];
    return () => open.forEach((unwanted) => unwanted.abort());
  }
}
