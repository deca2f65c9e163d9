import type { CallNotice } from '../../src/delivery/call-notice.js';
import type { FiledResult } from '../../src/delivery/files/filed-result.js';
import type { InputNotice } from '../../src/delivery/input-notice.js';

const A_CALL_ID = '01935f2e-0000-7000-8000-0000000000aa';
/** `A_CALL_ID` as the API shows it. */
export const A_PUBLIC_CALL_ID = 'bgc_01jdfjw000e00800000000005a';

/** What a completed call has to tell, with changes. */
export function aNotice(changes: Partial<CallNotice> = {}): CallNotice {
  return {
    callId: A_CALL_ID,
    serverName: 'reports',
    serverTitle: '报表服务',
    tool: 'export_report',
    status: 'completed',
    error: null,
    outcomeUnknown: false,
    argumentsPreview: '{"seconds":20}',
    preview: 'rows: 3\nfile: report.csv',
    resultBytes: 86,
    truncated: false,
    startedAt: '2026-01-31T12:00:00.250Z',
    endedAt: '2026-01-31T12:00:20.250Z',
    durationMs: 20_000,
    traceparent: null,
    ...changes,
  };
}

/** What a failed call has to tell. */
export function aFailure(code: string, changes: Partial<CallNotice> = {}): CallNotice {
  return aNotice({
    status: 'failed',
    error: { code, message: '' },
    preview: null,
    resultBytes: null,
    ...changes,
  });
}

/** What a call that needs input has to tell, with changes. */
export function anInputNotice(changes: Partial<InputNotice> = {}): InputNotice {
  return {
    callId: A_CALL_ID,
    serverName: 'reports',
    serverTitle: '报表服务',
    tool: 'export_report',
    status: 'input_required',
    argumentsPreview: '{"seconds":20}',
    startedAt: '2026-01-31T12:00:00.250Z',
    askedAt: '2026-01-31T12:00:20.250Z',
    durationMs: 20_000,
    traceparent: null,
    inputRequest: {
      sequence: 1,
      message: 'Which quarter?',
      schema: {
        type: 'object',
        properties: {
          quarter: { type: 'string', title: 'Quarter', enum: ['Q1', 'Q2'], default: 'Q1' },
          draft: { type: 'boolean', description: 'Whether it is one' },
        },
        required: ['quarter'],
      },
      deadlineAt: '2026-02-01T12:00:00.250Z',
    },
    isChecked: true,
    ...changes,
  };
}

/** A text and an image that are files. */
export function aFiledResult(changes: Partial<FiledResult> = {}): FiledResult {
  return {
    main: '.agent/mcp/bgc_1.txt',
    listed: [
      { path: '.agent/mcp/bgc_1.txt', bytes: 163_125 },
      { path: '.agent/mcp/bgc_1-1.png', bytes: 70 },
    ],
    unlisted: 0,
    unfiled: 0,
    ...changes,
  };
}
