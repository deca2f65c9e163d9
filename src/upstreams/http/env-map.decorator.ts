import { isProgramText } from './program-text.js';
import { MaskedMap } from './masked-map.decorator.js';

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const MAX_VALUE_CHARS = 8_192;
/**
 * Variables that decide which code runs: with them a command of the allow-list would be any command.
 * Who needs one allows a script that sets it.
 */
const DECIDES_CODE =
  /^(path|ld_.*|dyld_.*|gconv_path|node_options|node_path|bash_env|env|ifs|shellopts|bashopts|python(path|home|startup|inspect|breakpoint)|perl5?(opt|lib|db)|ruby(opt|lib)|_?java_(tool_)?options|jdk_java_options|classpath)$/i;

/** Names and values of environment variables; in a change null takes one away. */
export function EnvMap({ isNullable = false } = {}): PropertyDecorator {
  return MaskedMap(
    {
      what: 'names and values of environment variables',
      mistakeInName,
      isValue: (value) => isProgramText(value, MAX_VALUE_CHARS),
      value: `text without NUL, of at most ${MAX_VALUE_CHARS} characters,`,
    },
    isNullable,
  );
}

function mistakeInName(name: string): string | undefined {
  if (!NAME.test(name))
    return 'must have names of 1 to 128 letters, digits and _, not beginning with a digit';
  if (DECIDES_CODE.test(name)) return `must not have ${name}, which decides what code runs`;
  return undefined;
}
