import type { ValidationError } from 'class-validator';
import type { FieldError } from '../domain-error.js';
import { isContainer } from '../json-depth.js';
import { toJsonPointer } from '../json-pointer.js';

type Place = 'body' | 'query';

const UNKNOWN_FIELD = 'is not a known field';
const RESERVED = new Set(['constructor', '__proto__', 'prototype']);
const MISSING_FIELD = 'is missing';

/** The findings of class-validator, one entry for each wrong field, at whatever depth. */
export function fieldErrorsOf(
  findings: ValidationError[],
  place: Place,
  parents: readonly string[] = [],
): FieldError[] {
  return findings.flatMap((finding) => {
    const keys = [...parents, finding.property];
    const own = Object.entries(finding.constraints ?? {}).map(([constraint, message]) => {
      if (constraint === 'whitelistValidation') return UNKNOWN_FIELD;
      const isMissing = finding.value === undefined;
      return isMissing ? MISSING_FIELD : withoutName(message, finding.property);
    });
    const entry = { pointer: pointerTo(keys, place), detail: [...new Set(own)].join('; ') };
    return [
      ...(own.length > 0 ? [entry] : []),
      ...fieldErrorsOf(finding.children ?? [], place, keys),
    ];
  });
}

/**
 * Fields with a name that class-transformer takes for the class of what holds them, at whatever depth: it
 * would fail on them where a plain value belongs.
 */
export function reservedFieldsOf(
  given: object,
  place: Place,
  parents: readonly string[] = [],
): FieldError[] {
  return Object.entries(given).flatMap(([key, value]: [string, unknown]) => {
    const keys = [...parents, key];
    if (RESERVED.has(key)) return [{ pointer: pointerTo(keys, place), detail: UNKNOWN_FIELD }];
    return isContainer(value) ? reservedFieldsOf(value, place, keys) : [];
  });
}

/** Every field of a body of which nothing is read. */
export function unknownFieldsIn(body: object): FieldError[] {
  return Object.keys(body).map((key) => ({
    pointer: pointerTo([key], 'body'),
    detail: UNKNOWN_FIELD,
  }));
}

/** Fields that class-transformer drops without a word, such as `constructor`: no DTO knows them. */
export function lostFieldsOf(
  given: object,
  instance: object,
  place: Place,
  parents: readonly string[] = [],
): FieldError[] {
  const kept = new Map(Object.entries(instance));
  return Object.entries(given).flatMap(([key, value]: [string, unknown]) => {
    const keys = [...parents, key];
    if (!kept.has(key)) return [{ pointer: pointerTo(keys, place), detail: UNKNOWN_FIELD }];
    const member: unknown = kept.get(key);
    return isContainer(value) && isContainer(member)
      ? lostFieldsOf(value, member, place, keys)
      : [];
  });
}

function pointerTo(keys: readonly string[], place: Place): string {
  return place === 'query' ? `?${keys.join('.')}` : toJsonPointer(keys);
}

/** The pointer names the field already. */
function withoutName(message: string, property: string): string {
  return message.startsWith(`${property} `) ? message.slice(property.length + 1) : message;
}
