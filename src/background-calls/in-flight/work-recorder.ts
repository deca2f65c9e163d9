import { Injectable } from '@nestjs/common';
import type { BackgroundCall } from '../background-call.js';
import type { WorkListener } from '../call-work.js';
import type { InFlightCall } from './in-flight-call.js';
import { OpenQuestions } from '../questions/open-questions.js';
import { ProgressWriter } from './progress-writer.js';
import { ReferenceWriter } from './reference-writer.js';

/** Keeps in the row of a call what its work tells while it goes on, and has its questions answered. */
@Injectable()
export class WorkRecorder {
  constructor(
    private readonly progress: ProgressWriter,
    private readonly references: ReferenceWriter,
    private readonly questions: OpenQuestions,
  ) {}

  /** For the work of this call, for as long as `isOurs`. */
  listenerFor(entry: InFlightCall, isOurs: () => boolean): WorkListener {
    const { call } = entry;
    return {
      onProgress: (progress) => {
        if (!isOurs()) return;
        entry.renewSilence();
        this.progress.put(call, progress);
      },
      onReference: (reference) => {
        if (isOurs()) this.references.put(call, reference);
      },
      onQuestion: (question) => entry.answer((over) => this.questions.ask(call, question, over)),
    };
  }

  /** Whether another process can go on with the work, by what its row says. */
  isResumable(call: BackgroundCall): boolean {
    return this.references.isStored(call);
  }

  /** The same, once it is written what the work told last. */
  async isLeftResumable(call: BackgroundCall): Promise<boolean> {
    await this.references.settle(call);
    return this.isResumable(call);
  }

  /** Resolves when the last progress is written, so that the end of the call does not hide it. */
  async settle(call: BackgroundCall): Promise<void> {
    await this.progress.settle(call.id);
  }

  /** Nothing more is written about what the work has told. */
  forget(call: BackgroundCall): void {
    this.references.forget(call);
  }
}
