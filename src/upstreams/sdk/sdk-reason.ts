import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { systemReason } from '../../common/system-error.js';
import { schemaReason, type SchemaIssue } from './schema-reason.js';
import { withoutMarkup } from './web-page.js';

/** Each hop of the SDK puts this before the message of a JSON-RPC error. */
const ERROR_PREFIX = /^(?:MCP error -?\d+: )+/;
const HTTP_PREFIX = /^Streamable HTTP error: (?:Error POSTing to endpoint: )?/;

/** What went wrong, in a few words. */
export function reasonOf(error: unknown): string {
  if (error instanceof McpError) return withoutPrefix(error);
  if (error instanceof StreamableHTTPError) return httpReason(error);
  if (isSchemaError(error)) return schemaReason(error.issues);
  return systemReason(error);
}

/** Whether a message came that is not JSON, or not of MCP. */
export function isUnreadable(error: unknown): boolean {
  return (error as Error).name === 'SyntaxError' || isSchemaError(error);
}

function httpReason(error: StreamableHTTPError): string {
  const said = jsonRpcErrorIn(error)?.message;
  const message = typeof said === 'string' ? said : textOf(error);
  if ((error.code ?? -1) <= 0)
    return message.replace(/^(Unexpected content type: )null$/, '$1none');
  return message === '' ? `HTTP ${error.code}` : `HTTP ${error.code}: ${message}`;
}

/** The SDK writes `null` where it could not read the body. */
function textOf({ message }: StreamableHTTPError): string {
  const text = message.replace(HTTP_PREFIX, '');
  return text === 'null' ? '' : withoutMarkup(text);
}

/** That came as the body of an HTTP error. */
export function jsonRpcErrorIn(
  error: StreamableHTTPError,
): { code?: unknown; message?: unknown } | undefined {
  try {
    const body = JSON.parse(error.message.replace(HTTP_PREFIX, '')) as { error?: object };
    const { error: failure } = body ?? {};
    return typeof failure === 'object' ? (failure ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

function withoutPrefix(error: McpError): string {
  return error.message.replace(ERROR_PREFIX, '');
}

function isSchemaError(error: unknown): error is { issues: SchemaIssue[] } {
  return /^\$?ZodError$/.test((error as Error).name);
}
