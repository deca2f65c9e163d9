import { type ErrorObject, Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { FieldError } from '../../common/domain-error.js';
import { toJsonPointer } from '../../common/json-pointer.js';
import { runAtMost } from '../../common/run-at-most.js';

type Schema = Record<string, unknown>;

/**
 * Schema and content both come from outside: together they could keep the process busy for ever. A busy
 * machine needs a good part of it.
 */
const MOST_MS = 1_000;
const MAX_ERRORS = 50;

/** Whether answers can be checked against the schema of an upstream. */
export function isUsableSchema(schema: Schema): boolean {
  return attempt(() => compile(schema)) !== undefined;
}

/**
 * What is wrong with the content of an answer. A schema that can't be used, or takes too long, finds
 * nothing wrong with any object.
 */
export function contentErrors(schema: Schema, content: Record<string, unknown>): FieldError[] {
  return attempt(() => errorsOf(compile(schema), content)) ?? [];
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return runAtMost(MOST_MS, work);
  } catch {
    return undefined;
  }
}

/** Upstreams name other drafts too; for the flat forms that they send these do not differ. */
function compile({ $schema: _draft, ...schema }: Schema): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, validateSchema: true });
  ajvFormats.default(ajv, ['email', 'uri', 'date', 'date-time']);
  const validate = ajv.compile(schema);
  if ('$async' in validate) throw new Error('an asynchronous schema');
  return validate;
}

function errorsOf(validate: ValidateFunction, content: Record<string, unknown>): FieldError[] {
  validate(content);
  return (validate.errors ?? []).slice(0, MAX_ERRORS).map(toFieldError);
}

function toFieldError({ instancePath, keyword, params, message }: ErrorObject): FieldError {
  const at = `/content${instancePath}`;
  const known = params as { missingProperty?: string; additionalProperty?: string };
  if (known.missingProperty !== undefined)
    return { pointer: at + toJsonPointer([known.missingProperty]), detail: 'is required' };
  if (known.additionalProperty !== undefined)
    return { pointer: at + toJsonPointer([known.additionalProperty]), detail: 'is not a field' };
  return { pointer: at, detail: `${message ?? keyword}${allowed(params)}` };
}

function allowed(params: Record<string, unknown>): string {
  const { allowedValues, allowedValue } = params;
  if (allowedValues !== undefined) return `: ${JSON.stringify(allowedValues)}`;
  return allowedValue === undefined ? '' : `: ${JSON.stringify(allowedValue)}`;
}
