import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

interface Contract {
  paths: Record<string, Record<string, { responses: Record<string, object> }>>;
  components: { responses: Record<string, object> };
}

interface Answer {
  content?: Record<string, { schema: object }>;
}

/** `openapi.yaml` as JSON: every test file reads it anew. */
const CONTRACT = JSON.parse(readFileSync(process.env['TEST_CONTRACT'] ?? '', 'utf8')) as Contract;
const ajv = new Ajv2020({
  // `example` and the members of OpenAPI itself are no keywords of JSON Schema.
  strict: false,
  // Costs every test file half a second; that the document is a good one is a test of its own.
  validateSchema: false,
  validateFormats: false,
  allErrors: true,
});
ajv.addSchema(CONTRACT, 'contract');
const validators = new Map<string, ValidateFunction>();
const PATHS = Object.keys(CONTRACT.paths).map((path) => ({
  path,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/**
 * Holds an answer against `openapi.yaml`; answers of addresses that are not in it are not looked at,
 * and of an answer that is no JSON the status alone.
 * @throws Error when the status is not documented, or the body is not as documented.
 */
export function assertContract(
  method: string,
  url: string,
  { status, body }: { status: number; body: unknown },
): void {
  const path = PATHS.find(({ pattern }) => pattern.test(url.split('?', 1)[0] ?? ''))?.path;
  const operation = path && CONTRACT.paths[path]?.[method.toLowerCase()];
  if (!path || !operation) return;
  const what = `${method} ${path} ${status}`;
  const documented = operation.responses[String(status)];
  if (documented === undefined) throw new Error(`openapi.yaml lacks ${what}`);
  const validate = validatorOf(what, documented);
  if (validate === undefined || validate(body)) return;
  throw new Error(`${what} is not as openapi.yaml says: ${ajv.errorsText(validate.errors)}`);
}

/** @throws Error when the value is not as the schema of that name says. */
export function assertSchema(name: string, value: unknown): void {
  const validate = ajv.compile({ $ref: `contract#/components/schemas/${name}` });
  if (!validate(value)) throw new Error(`no ${name}: ${ajv.errorsText(validate.errors)}`);
}

function validatorOf(what: string, documented: object): ValidateFunction | undefined {
  const known = validators.get(what);
  if (known !== undefined) return known;
  const shared = '$ref' in documented ? String(documented.$ref).split('/').at(-1) : undefined;
  const { content = {} } = (
    shared === undefined ? documented : CONTRACT.components.responses[shared]
  ) as Answer;
  const media = content['application/json'] ?? content['application/problem+json'];
  if (media === undefined) return undefined;
  const validate = ajv.compile(withinContract(media.schema) as object);
  validators.set(what, validate);
  return validate;
}

/** References are to the document, of which the schema alone is compiled. */
function withinContract(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"contract#/'));
}
