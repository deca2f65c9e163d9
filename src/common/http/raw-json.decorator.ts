const RAW_FIELDS = Symbol('raw json fields');

type WithRawFields = object & { [RAW_FIELDS]?: readonly string[] };

/**
 * Marks a field of a body whose JSON reaches the controller exactly as it was sent, for example the
 * arguments of a tool: class-transformer would drop keys such as `constructor` and `__proto__`.
 */
export function RawJson(): PropertyDecorator {
  return (prototype, key) => {
    const owner: WithRawFields = prototype;
    owner[RAW_FIELDS] = [...(owner[RAW_FIELDS] ?? []), String(key)];
  };
}

/** The fields of a DTO class, with those that it inherits, that are marked with `@RawJson()`. */
export function rawJsonFieldsOf(dto: { prototype: object }): readonly string[] {
  return (dto.prototype as WithRawFields)[RAW_FIELDS] ?? [];
}
