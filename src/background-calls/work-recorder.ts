import { Injectable } from '@nestjs/common';
import type { BackgroundCall } from './background-call.js';
import type { WorkListener } from './call-outcome.js';
import { ProgressWriter } from './progress-writer.js';
import { ReferenceWriter } from './reference-writer.js';

/** Keeps in the row of a call what its work tells while it goes on. */
@Injectable()
export class WorkRecorder {
  constructor(
    private readonly progress: ProgressWriter,
    private readonly references: ReferenceWriter,
  ) {}

  /** For the work of this call, for as long as `isOurs`; `onSign` is told of each sign of life. */
  listenerFor(call: BackgroundCall, isOurs: () => boolean, onSign: () => void): WorkListener {
    return {
      onProgress: (progress) => {
        if (!isOurs()) return;
        onSign();
        this.progress.put(call, progress);
      },
      onReference: (reference) => {
        if (isOurs()) this.references.put(call, reference);
      },
      // Nobody can be asked yet.
      onQuestion: () => Promise.resolve({ action: 'cancel' }),
    };
  }

  /** Whether the work has told how another process could go on with it. */
  isResumable(call: BackgroundCall): boolean {
    return this.references.isKnown(call);
  }

  /** Whether another process can go on with the work, by what the row says by now. */
  async isLeftResumable(call: BackgroundCall): Promise<boolean> {
    return this.references.isStored(call);
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
