import { Injectable } from '@nestjs/common';
import { AppDirectory } from '../../apps/app.directory.js';
import { toPublicId } from '../../common/ids.js';
import { handoverText } from '../../delivery/texts/handover-text.js';
import { Settings } from '../../settings/settings.js';
import type { BackgroundCall } from '../background-call.js';
import type { ToolResult } from '../call-outcome.js';

/** What a caller gets in place of a result once its call has moved. */
@Injectable()
export class HandoverAnswer {
  constructor(
    private readonly apps: AppDirectory,
    private readonly settings: Settings,
  ) {}

  for(call: BackgroundCall): { outcome: 'background'; call: BackgroundCall; result: ToolResult } {
    const locale = this.apps.localeOf(call.appId) ?? this.settings.current.messages.locale;
    const text = handoverText(locale, toPublicId('bgc', call.id), conditionOf(call));
    return { outcome: 'background', call, result: { content: [{ type: 'text', text }] } };
  }
}

function conditionOf({ status, handover }: BackgroundCall): 'queued' | 'asks' | undefined {
  if (status === 'queued') return 'queued';
  return handover === 'input_required' ? 'asks' : undefined;
}
