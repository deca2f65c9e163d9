import { type FieldError, InvalidRequestError } from '../../common/domain-error.js';
import type { Sharing, Transport } from '../mcp-server.js';
import type { McpServerFields } from './mcp-server.row.js';

interface Draft<V extends string | null> {
  name: string;
  title: string;
  enabled: boolean;
  transport: Transport;
  sharing: Sharing;
  url?: string;
  headers?: Record<string, V>;
  command?: string;
  args?: string[];
  env?: Record<string, V>;
}

/** What somebody says of a new server: whether the fields fit the transport is not known yet. */
export type McpServerDraft = Draft<string>;

/** What to change; a header or variable of the value null is taken away, those not named stay. */
export type McpServerPatch = Partial<Draft<string | null>>;

const HTTP_FIELDS = ['url', 'headers'] as const;
const STDIO_FIELDS = ['command', 'args', 'env'] as const;

/** @throws InvalidRequestError that names each field that is missing or does not go with the transport. */
export function toMcpServerFields(draft: McpServerDraft): McpServerFields {
  refuseMisfits(draft.transport, draft);
  const {
    name,
    title,
    enabled,
    transport,
    sharing,
    url,
    headers = {},
    command,
    args = [],
    env = {},
  } = draft;
  const common = { name, title, enabled, sharing };
  if (transport === 'stdio' && command !== undefined)
    return { ...common, transport, command, args, env };
  if (transport !== 'stdio' && url !== undefined) return { ...common, transport, url, headers };
  const pointer = transport === 'stdio' ? '/command' : '/url';
  throw new InvalidRequestError([
    { pointer, detail: `is missing: the transport ${transport} needs it` },
  ]);
}

/**
 * A change from HTTP to a program or back drops the fields of the other side.
 * @throws InvalidRequestError that names each field that is missing or does not go with the transport.
 */
export function applyPatch(before: McpServerFields, patch: McpServerPatch): McpServerFields {
  const transport = patch.transport ?? before.transport;
  refuseMisfits(transport, patch);
  const { name, title, enabled, sharing } = { ...before, ...patch };
  const old: Partial<McpServerDraft> = before;
  const connection =
    transport === 'stdio'
      ? {
          command: patch.command ?? old.command,
          args: patch.args ?? old.args,
          env: merged(old.env, patch.env),
        }
      : { url: patch.url ?? old.url, headers: merged(old.headers, patch.headers) };
  const fields = toMcpServerFields({
    name,
    title,
    enabled,
    transport,
    sharing,
    ...connection,
  });
  const unopened = before.unopened?.filter(
    ({ field, name: secret }) => field in fields && patch[field]?.[secret] === undefined,
  );
  return { ...fields, unopened };
}

function refuseMisfits(transport: Transport, given: object): void {
  const misfits = transport === 'stdio' ? HTTP_FIELDS : STDIO_FIELDS;
  const errors = misfits
    .filter((field) => (given as Record<string, unknown>)[field] !== undefined)
    .map((field): FieldError => ({
      pointer: `/${field}`,
      detail: `does not go with the transport ${transport}`,
    }));
  if (errors.length > 0) throw new InvalidRequestError(errors);
}

function merged(
  before: Record<string, string> = {},
  patch: Record<string, string | null> = {},
): Record<string, string> {
  const entries = Object.entries({ ...before, ...patch });
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== null),
  );
}
