import { Injectable } from '@nestjs/common';
import {
  type SealedText,
  SecretBox,
  SecretNotOpenedError,
  type SecretPlace,
} from '../../secrets/secret-box.js';
import type { SecretField, UnopenedSecret } from '../mcp-server.js';
import type {
  McpServerColumns,
  McpServerFields,
  McpServerRow,
  StoredSecrets,
  StoredServerSecrets,
} from './mcp-server.row.js';

/** Of one field: those that could be opened, and the others. */
interface Opened {
  values: Record<string, string>;
  unopened: UnopenedSecret[];
}

/** Registrations on their way to the database and back: there the values of headers and variables are sealed. */
@Injectable()
export class ServerSecrets {
  constructor(private readonly box: SecretBox) {}

  /** In the order name, title, enabled, transport, url, headers, command, args, env, sharing. */
  toColumnValues(id: string, fields: McpServerFields): unknown[] {
    const { name, title, enabled, transport, sharing } = fields;
    const { headers, env } = this.seal(id, fields);
    const connection =
      fields.transport === 'stdio'
        ? [null, '{}', fields.command, JSON.stringify(fields.args), JSON.stringify(env)]
        : [fields.url, JSON.stringify(headers), null, '[]', '{}'];
    return [name, title, enabled, transport, ...connection, sharing];
  }

  /** The constraint `mcp_servers_fields_fit` makes what a transport needs be there. */
  toRow({ headers, env, ...columns }: McpServerColumns): McpServerRow {
    const { transport, url, command, args, ...rest } = columns;
    if (transport === 'stdio') {
      const { values, unopened } = this.open(rest.id, 'env', env);
      return { ...rest, transport, command: command as string, args, env: values, unopened };
    }
    const { values, unopened } = this.open(rest.id, 'headers', headers);
    return { ...rest, transport, url: url as string, headers: values, unopened };
  }

  /** The same secrets as the first key seals them; undefined when it has sealed all that can be opened. */
  reseal(columns: McpServerColumns): StoredServerSecrets | undefined {
    const { unopened, ...fields } = this.toRow(columns);
    const stored = Object.values(fields.transport === 'stdio' ? columns.env : columns.headers);
    const fresh = stored.filter((one) => typeof one !== 'string' && this.box.isSealedByFirst(one));
    const isStale = fresh.length + (unopened?.length ?? 0) < stored.length;
    return isStale ? this.seal(columns.id, { ...fields, unopened }) : undefined;
  }

  /** What could not be opened stays as it is. */
  private seal(id: string, fields: McpServerFields): StoredServerSecrets {
    const field = fields.transport === 'stdio' ? 'env' : 'headers';
    const values = fields.transport === 'stdio' ? fields.env : fields.headers;
    const unopened = fields.unopened?.map(({ name, stored }) => [name, stored] as const) ?? [];
    const sealed = Object.entries(values).map(
      ([name, value]) => [name, this.box.seal(value, placeOf(id, field, name))] as const,
    );
    const stored = Object.fromEntries([...unopened, ...sealed]);
    return { headers: {}, env: {}, [field]: stored };
  }

  private open(id: string, field: SecretField, stored: StoredSecrets): Opened {
    const values: [string, string][] = [];
    const unopened: UnopenedSecret[] = [];
    for (const [name, sealed] of Object.entries(stored)) {
      if (typeof sealed === 'string') values.push([name, sealed]);
      else {
        const opened = this.tryOpen(sealed, placeOf(id, field, name));
        if (typeof opened === 'string') values.push([name, opened]);
        else unopened.push({ field, name, why: opened.message, stored: sealed });
      }
    }
    return { values: Object.fromEntries(values), unopened };
  }

  private tryOpen(sealed: SealedText, place: SecretPlace): string | SecretNotOpenedError {
    try {
      return this.box.open(sealed, place);
    } catch (error) {
      if (error instanceof SecretNotOpenedError) return error;
      throw error;
    }
  }
}

function placeOf(id: string, field: SecretField, name: string): SecretPlace {
  return { table: 'mcp_servers', rowId: id, field: `${field}.${name}` };
}
