import { isJsonObject } from '../../common/json-object.js';
import { quoteForeignLine } from './foreign-text.js';
import type { FieldTexts, MessageTexts } from './message-texts.js';

type Schema = Record<string, unknown>;

const MAX_FIELDS = 20;
const MAX_NAME_CHARS = 80;
const MAX_LINE_CHARS = 400;
const MAX_CHOICES = 20;

/** The fields of a schema, one on a line; none when it names none. Nothing of its shape is relied on. */
export function fieldLines(
  { field: texts, moreFields }: Pick<MessageTexts, 'field' | 'moreFields'>,
  schema: Schema,
): string[] {
  const properties = Object.entries(objectOf(schema['properties']));
  const required = listOf(schema['required']);
  const lines = properties
    .slice(0, MAX_FIELDS)
    .map(([name, field]) => fieldLine(texts, name, objectOf(field), required.includes(name)));
  const more = properties.length - lines.length;
  return more > 0 ? [...lines, moreFields(more)] : lines;
}

/** `- name (string, required): title; what it is; one of "a" | "b"; default "a"` */
function fieldLine(texts: FieldTexts, name: string, field: Schema, isRequired: boolean): string {
  const kind = [textOf(field['type']), isRequired ? texts.required : texts.optional];
  const several = choicesOf(objectOf(field['items']));
  const choices = choicesOf(field);
  const details = [
    textOf(field['title']),
    textOf(field['description']),
    choices && texts.oneOf(choices),
    several && texts.severalOf(several),
    'default' in field ? texts.byDefault(JSON.stringify(field['default'])) : '',
  ].filter(Boolean);
  const described = details.length === 0 ? '' : `: ${details.join('; ')}`;
  const shortName = quoteForeignLine(name, MAX_NAME_CHARS);
  return quoteForeignLine(
    `- ${shortName} (${kind.filter(Boolean).join(', ')})${described}`,
    MAX_LINE_CHARS,
  );
}

/** Of `enum`, or of the `const`s of `oneOf` or `anyOf` with their titles. */
function choicesOf(field: Schema): string {
  const titled = [...listOf(field['oneOf']), ...listOf(field['anyOf'])].flatMap((choice) => {
    const { const: value, title } = objectOf(choice);
    if (value === undefined) return [];
    return [
      typeof title === 'string' ? `${JSON.stringify(value)} (${title})` : JSON.stringify(value),
    ];
  });
  const plain = listOf(field['enum']).map((value) => JSON.stringify(value));
  const all = [...plain, ...titled];
  const shown = all.slice(0, MAX_CHOICES);
  return (all.length > shown.length ? [...shown, '…'] : shown).join(' | ');
}

function objectOf(value: unknown): Schema {
  return isJsonObject(value) ? value : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
