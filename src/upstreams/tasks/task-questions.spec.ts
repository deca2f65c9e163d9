import { describe, expect, it } from '@jest/globals';
import type { UpstreamQuestion } from '../upstream-call.js';
import { TaskQuestions } from './task-questions.js';

const QUESTION = { message: 'Why?', schema: {} };

describe('the questions of a task', () => {
  const asked: UpstreamQuestion[] = [];
  const questions = new TaskQuestions((question) => {
    asked.push(question);
    return new Promise(() => undefined);
  });
  const withdrawn = (): unknown[] => asked.map((question) => question.withdrawn?.aborted);

  it('are withdrawn when they were put before it was looked, and not those that came meanwhile', () => {
    void questions.put(QUESTION);
    const withdraw = questions.mark();
    void questions.put(QUESTION);
    withdraw();
    expect(withdrawn()).toEqual([true, false]);
  });

  it('are withdrawn when the server says so', () => {
    const saying = new AbortController();
    void questions.put({ ...QUESTION, withdrawn: saying.signal });
    saying.abort();
    expect(withdrawn()).toEqual([true, false, true]);
  });
});
