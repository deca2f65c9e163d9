import { setTimeout as sleep } from 'node:timers/promises';

export type Json = Record<string, unknown>;

export interface ToolContext {
  /** Aborted when the client cancelled this call. */
  signal: AbortSignal;
  progress(progress: number, total?: number, message?: string): Promise<void>;
  /** Progress of this call on the stream of the session instead of its own, at any time. */
  strayProgress(progress: number): Promise<void>;
  /** Asks the user something, on the stream of this call; answers what the client says. */
  ask(message: string, requestedSchema: Json): Promise<Json>;
  /** Asks the client for a sign of life, on the stream of this call. */
  ping(): Promise<void>;
  /** Waits until the test releases the gate; answers what the test gave. */
  gate(name: string): Promise<Json>;
  /** Asks anything of the client, on the stream of this call; takes it back after the time-out in milliseconds. */
  request(method: string, params: Json, timeout?: number): Promise<Json>;
  /** What the client said that it offers. */
  clientCapabilities: Json;
}

export type ToolHandler = (args: Json, context: ToolContext) => Promise<Json> | Json;

export function textResult(text: string): Json {
  return { content: [{ type: 'text', text }] };
}

/** The tools of each test server. */
export const standardTools: Record<string, ToolHandler> = {
  /** Answers with what the client answers, or refuses with. */
  ask: async ({ method = 'elicitation/create', params = {}, timeout }, { request }) => {
    try {
      const answer = await request(String(method), params as Json, timeout as number);
      return { content: [], structuredContent: answer };
    } catch (error) {
      return { ...textResult((error as Error).message), isError: true };
    }
  },

  capabilities: (_args, { clientCapabilities }) => ({
    content: [],
    structuredContent: clientCapabilities,
  }),

  /** Answers its arguments. */
  echo: (args) => ({ ...textResult(JSON.stringify(args)), structuredContent: args }),

  /** Takes `ms`, tells its progress `steps` times, stops when it is cancelled. */
  slow: async ({ ms = 100, steps = 0 }, context) => {
    const rounds = Math.max(1, Number(steps));
    for (let step = 1; step <= rounds; step++) {
      await sleep(Number(ms) / rounds, undefined, { signal: context.signal });
      if (Number(steps) > 0) await context.progress(step, rounds, `step ${step}`);
    }
    return textResult(`done after ${Number(ms)} ms`);
  },

  /** Takes `ms` and does not care about being cancelled. */
  stubborn: async ({ ms = 60_000 }) => {
    await sleep(Number(ms), undefined, { ref: false });
    return textResult('finished all the same');
  },

  /** Waits until the test calls `release(name)`. */
  gate: async ({ name }, context) => context.gate(String(name)),

  /** Ends as a failed tool does: in its result. */
  fail: ({ message = 'it did not work' }) => ({
    ...textResult(String(message)),
    isError: true,
  }),
};
