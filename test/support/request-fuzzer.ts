/** The parts of openapi.yaml from which requests are made. */
export interface Operation {
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, Response>;
}

export interface Response {
  $ref?: string;
  content?: Record<string, { schema: Schema }>;
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  minimum?: number;
  maximum?: number;
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> };
}

export interface FuzzedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

const LONG = 'x'.repeat(10_000);
const ODD_TEXTS = [
  '',
  ' ',
  '\0',
  '\ud800',
  '漢字🙂',
  '../..',
  '.',
  '__proto__',
  'null',
  LONG,
  "' OR 1=1 --",
];
const ODD_NUMBERS = [0, -0, -1, 0.5, 1e308, -1e308, 2 ** 31, 2 ** 53, 1e-9, Number.MAX_VALUE];
const ODD_VALUES = [null, true, [], [[]], {}, { a: { b: [] } }, ...ODD_TEXTS, ...ODD_NUMBERS];
const ODD_JSON = [
  '',
  '{',
  '[]',
  'null',
  '1e999',
  '"\\ud800"',
  '{"a":1e999}',
  '{"":0}',
  '\ufeff{}',
  '{"a":NaN}',
];
const ODD_PATHS = [
  '%',
  '%zz',
  '%00',
  '%2f',
  '%c3%28',
  '%ed%a0%80',
  'a%20b',
  '..%2f',
  '\ud83d',
  'x'.repeat(3_000),
  ';',
  '*',
];
const ODD_TYPES = [
  'text/plain',
  'application/xml',
  'multipart/form-data',
  'application/json; charset=utf-16',
  'json',
  '*/*',
];
const ODD_HEADERS: Record<string, string>[] = [
  { traceparent: '00-zz' },
  { 'x-request-id': 'a b\t' + LONG.slice(0, 500) },
  { 'content-encoding': 'gzip' },
  { accept: 'text/nothing' },
  { 'accept-encoding': 'br;q=nonsense' },
  { range: 'bytes=5-1' },
  { 'if-match': '"nothing"' },
  { cookie: '=;=;' },
];

/** Makes requests from openapi.yaml, most of them wrong in one place. The same seed makes the same ones. */
export class RequestFuzzer {
  private state: number;

  constructor(
    private readonly openApi: OpenApi,
    seed: number,
    /** Values for parameters and members of these names, so that not every request ends as a 404. */
    private readonly known: Record<string, unknown[]>,
  ) {
    this.state = seed;
  }

  request(method: string, path: string, operation: Operation): FuzzedRequest {
    const parameters = operation.parameters ?? [];
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => this.pathPart(name));
    const query = parameters
      .filter((parameter) => parameter.in === 'query' && this.chance(0.4))
      .map(({ name, schema }) => `${name}=${this.queryPart(name, schema)}`);
    const content =
      operation.requestBody?.content['application/json'] ??
      // A body that nobody asked for.
      (method !== 'get' && this.chance(0.3) ? { schema: {} } : undefined);
    return {
      method: method.toUpperCase(),
      path: query.length === 0 ? filled : `${filled}?${query.join('&')}`,
      headers: {
        ...(content && {
          'content-type': this.chance(0.1) ? this.pick(ODD_TYPES) : 'application/json',
        }),
        ...(this.chance(0.15) ? this.pick(ODD_HEADERS) : {}),
      },
      body: content && this.body(content.schema),
    };
  }

  private body(schema: Schema): string {
    if (this.chance(0.1)) return this.pick(ODD_JSON);
    return JSON.stringify(this.value('', schema, 0)) ?? '';
  }

  private pathPart(name: string): string {
    const known = this.known[name];
    if (known && this.chance(0.6)) return encodeURIComponent(String(this.pick(known)));
    return this.chance(0.5) ? this.pick(ODD_PATHS) : encodeURIComponent(this.wellFormed());
  }

  private queryPart(name: string, schema: Schema): string {
    if (this.chance(0.2)) return this.pick(ODD_PATHS);
    const known = this.known[name];
    if (known) return encodeURIComponent(String(this.pick(known)));
    return encodeURIComponent(String(this.value(name, schema, 0)).toWellFormed());
  }

  private wellFormed(): string {
    return this.pick(ODD_TEXTS).toWellFormed();
  }

  private value(name: string, schema: Schema, depth: number): unknown {
    if (this.chance(depth === 0 ? 0.05 : 0.12)) return this.pick(ODD_VALUES);
    const known = this.known[name];
    if (known && this.chance(0.85)) return this.pick(known);
    const { $ref, enum: options, type } = schema;
    if ($ref !== undefined) return this.value(name, this.resolve($ref), depth);
    const [one] = schema.oneOf ?? schema.anyOf ?? schema.allOf ?? [];
    if (one) return this.value(name, one, depth);
    if (options) return this.pick(options);
    switch (Array.isArray(type) ? this.pick(type) : type) {
      case 'object':
        return this.object(schema, depth);
      case 'array':
        return [this.value('', schema.items ?? {}, depth + 1)];
      case 'string':
        return this.chance(0.5) ? this.pick(ODD_TEXTS) : 'name-1';
      case 'number':
      case 'integer':
        return this.number(schema);
      case 'boolean':
        return this.chance(0.5);
      default:
        return this.pick(ODD_VALUES);
    }
  }

  private object(schema: Schema, depth: number): object {
    const members = Object.entries(schema.properties ?? {})
      .filter(() => this.chance(0.75))
      .map(([key, member]) => [key, this.value(key, member, depth + 1)]);
    if (this.chance(0.05)) members.push([this.pick(ODD_TEXTS), this.pick(ODD_VALUES)]);
    return Object.fromEntries(members) as object;
  }

  private number({ minimum = 0, maximum = 100 }: Schema): number {
    if (this.chance(0.3)) return this.pick([...ODD_NUMBERS, minimum, maximum, maximum + 1]);
    return Math.ceil(minimum + this.next() * Math.min(10, maximum - minimum));
  }

  private resolve(ref: string): Schema {
    return this.openApi.components.schemas[ref.split('/').at(-1) ?? ''] ?? {};
  }

  private pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.next() * values.length)] as T;
  }

  private chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** mulberry32: small, and the same on every machine. */
  private next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
