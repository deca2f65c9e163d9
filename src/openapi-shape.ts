import type { OpenAPIObject } from '@nestjs/swagger';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Responses = NonNullable<NonNullable<OpenAPIObject['components']>['responses']>;

const PROBLEM_TYPE = 'application/problem+json';

/** Two operations would have the same name in a generated client. */
export class DuplicateOperationError extends Error {}

/** @throws DuplicateOperationError naming every operation id that is there twice. */
export function refuseDuplicateOperations(document: OpenAPIObject): void {
  const ids = operationsOf(document).map(({ operationId }) => operationId);
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  if (twice.length > 0) throw new DuplicateOperationError(`operationId twice: ${twice.join(', ')}`);
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
