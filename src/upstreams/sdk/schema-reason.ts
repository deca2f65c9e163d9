/** What a schema found wrong, as zod tells it. */
export interface SchemaIssue {
  path: readonly PropertyKey[];
  message: string;
  /** Of a union: what each of its schemas found. */
  errors?: readonly (readonly SchemaIssue[])[];
}

const PREFIX = /^Invalid input: /;

/** The first thing that was wrong, and where: a list of all of them is of no use to who reads it. */
export function schemaReason(issues: readonly SchemaIssue[]): string {
  const [first] = issues;
  if (first === undefined) return 'it does not look like a message';
  const closest = closestOf(first.errors ?? []);
  const place = first.path.map(String).join('.');
  const what = closest === undefined ? first.message.replace(PREFIX, '') : schemaReason(closest);
  return place === '' ? what : `${place}: ${what}`;
}

/** Of the schemas that were tried, the one that was meant: it found the fewest faults, and got furthest. */
function closestOf(tried: readonly (readonly SchemaIssue[])[]): readonly SchemaIssue[] | undefined {
  const depthOf = ([first]: readonly SchemaIssue[]): number => first?.path.length ?? 0;
  const [closest] = [...tried].sort(
    (one, other) => one.length - other.length || depthOf(other) - depthOf(one),
  );
  return closest;
}
