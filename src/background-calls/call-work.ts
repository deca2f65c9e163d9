import type { CallOutcome } from './call-outcome.js';

/** The port to the work behind one call: an upstream request now, other kinds of work later. */
export interface CallWork {
  /** Never rejects. */
  readonly outcome: Promise<CallOutcome>;
  /** Tells the worker to stop; resolves when it was told and its connection is closed. Repeatable. */
  cancel(reason: string): Promise<void>;
  /** From now on this listener alone is told what happens; what was told last is told again. */
  attach(listener: WorkListener): void;
  /**
   * Leaves the work to another process: what is open here is closed, and the worker is told nothing.
   * Its outcome means nothing from then on.
   */
  detach(): void;
}

/** Told what happens while work goes on. */
export interface WorkListener {
  onProgress(progress: WorkProgress): void;
  /** What another process needs to go on with the work, for the driver to read; told at each change. */
  onReference(reference: object): void;
  /** The worker wants to know something of the user; it goes on with the answer. */
  onQuestion(question: WorkQuestion): Promise<WorkAnswer>;
}

export interface WorkProgress {
  progress: number;
  total?: number;
  message?: string;
}

export interface WorkQuestion {
  message: string;
  /** JSON Schema of the answer's content. */
  schema: Record<string, unknown>;
  /** Aborts when the worker does not want to know any more. */
  withdrawn?: AbortSignal;
}

export type WorkAnswer =
  | { action: 'accept'; content: Record<string, unknown> }
  | { action: 'decline' }
  /** `reason`: why nobody was asked. */
  | { action: 'cancel'; reason?: string };
