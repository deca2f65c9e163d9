import { STATUS_CODES } from 'node:http';
import type { OpenAPIObject } from '@nestjs/swagger';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Responses = NonNullable<NonNullable<OpenAPIObject['components']>['responses']>;

const PROBLEM_TYPE = 'application/problem+json';

/** Two operations would have the same name in a generated client. */
class DuplicateOperationError extends Error {}

/** @throws DuplicateOperationError naming every operation id that is there twice. */
export function refuseDuplicateOperations(document: OpenAPIObject): void {
  const ids = operationsOf(document).map(({ operationId }) => operationId);
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  if (twice.length > 0) throw new DuplicateOperationError(`operationId twice: ${twice.join(', ')}`);
}

/** A generated client would not compile. */
class DanglingReferenceError extends Error {}

/** @throws DanglingReferenceError naming every reference that leads to no schema. */
export function refuseDanglingReferences(document: OpenAPIObject): void {
  const schemas = document.components?.schemas ?? {};
  const named = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]*)"/g)];
  const dangling = named.map(([, name = '']) => name).filter((name) => !(name in schemas));
  if (dangling.length > 0)
    throw new DanglingReferenceError(
      `no such schema: ${dangling.map((name) => `"${name}"`).join(', ')}`,
    );
}

/** The error answer of a status is the same everywhere, so it is written down once. */
export function shareProblems(document: OpenAPIObject): void {
  const shared: Responses = {};
  for (const { responses } of operationsOf(document))
    for (const [status, response] of Object.entries(responses as Responses)) {
      if ('$ref' in response || response.content?.[PROBLEM_TYPE] === undefined) continue;
      shared[`Problem${status}`] = response;
      responses[status] = { $ref: `#/components/responses/Problem${status}` };
    }
  document.components = { ...document.components, responses: shared };
}

/** A response must have a description; where nothing is to be said, the name of its status is it. */
export function describeResponses(document: OpenAPIObject): void {
  for (const { responses } of operationsOf(document))
    for (const [status, response] of Object.entries(responses as Responses))
      if ('description' in response) response.description ||= STATUS_CODES[status] ?? status;
}

/** Independent of the order in which modules were imported. */
export function inStableOrder({ paths, components, ...rest }: OpenAPIObject): OpenAPIObject {
  const { schemas = {}, responses = {}, ...others } = components ?? {};
  return {
    ...rest,
    paths: sorted(paths),
    components: { ...others, schemas: sorted(schemas), responses: sorted(responses) },
  };
}

/** Every operation of the document, whatever its path and method. */
export function operationsOf(document: OpenAPIObject): Operation[] {
  return Object.values(document.paths).flatMap((path) => Object.values(path) as Operation[]);
}

function sorted<T>(members: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}
