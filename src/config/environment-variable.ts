import { z } from 'zod';
import { isHostName, toNetwork } from '../common/network.js';
import { parseSecretsKeys, SECRETS_KEYS_FORM } from './secrets-keys.js';

/** Not what JavaScript reads as a number besides: blanks are 0 to it. */
const decimal = (error: string): z.ZodType<number> =>
  z
    .string({ error })
    .regex(/^-?\d+(?:\.\d+)?(?:e\d+)?$/i, { error })
    .transform(Number);

export const number = (min: number, max: number): z.ZodType<number> => {
  const error = `must be a number from ${min} to ${max}`;
  return decimal(error).refine((value) => value >= min && value <= max, { error });
};

export const wholeNumber = (min: number, max: number): z.ZodType<number> => {
  const error = `must be a whole number from ${min} to ${max}`;
  const isValid = (value: number): boolean =>
    Number.isInteger(value) && value >= min && value <= max;
  return decimal(error).refine(isValid, { error });
};

export const oneOf = <const T extends readonly string[]>(
  words: T,
): z.ZodEnum<{ [W in T[number]]: W }> =>
  z.enum(words, { error: `must be one of: ${words.join(', ')}` });

/** A fixed key of an audience. */
export const key = z
  .string()
  .min(24, 'must have at least 24 characters')
  .regex(/^[\x21-\x7e]{0,512}$/, 'must be at most 512 visible ASCII characters')
  .optional();

/** A name without anything that a shell or a pattern would mean, or an absolute path. */
const COMMAND = /^(?:[\w.+@-]+|\/[^/].*)$/;
/** Programs that may be started. */
export const commands = z
  .string()
  .default('')
  .transform((list) => list.split(',').map((command) => command.trim()))
  .transform((list) => (list.join('') === '' && list.length === 1 ? [] : list))
  .refine((list) => list.every((command) => COMMAND.test(command)), {
    error: 'must be names of commands or absolute paths, separated by commas',
  });

/** Where requests may go. */
export const addresses = z
  .string()
  .transform((list) => list.split(',').map((entry) => entry.trim()))
  .refine((list) => list.every((entry) => isHostName(entry) || toNetwork(entry) !== undefined), {
    error: 'must be addresses, networks such as 10.0.0.0/8, or host names, separated by commas',
  })
  .optional();

/** The message never repeats what was given. */
export const secretsKeys = z
  .string()
  .transform((text, context) => {
    const keys = parseSecretsKeys(text);
    if (keys === undefined) context.addIssue({ code: 'custom', message: SECRETS_KEYS_FORM });
    return keys;
  })
  .optional();
