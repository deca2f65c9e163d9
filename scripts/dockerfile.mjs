/** Reads a Dockerfile as far as ours goes; what it does not know it refuses. */
import * as fs from 'node:fs';

const STEPS = new Set(['RUN', 'COPY', 'ENV', 'USER', 'WORKDIR']);
const ABOUT = new Set(['CMD', 'HEALTHCHECK', 'VOLUME', 'EXPOSE', 'STOPSIGNAL']);

/** The stages in their order: `{name, from, steps: [{word, text}], about: {CMD, HEALTHCHECK, …}}`. */
export function readStages(file) {
  const stages = [];
  for (const { word, text } of instructionsOf(fs.readFileSync(file, 'utf8'))) {
    const stage = stages.at(-1);
    if (word === 'FROM') stages.push(newStage(text));
    else if (STEPS.has(word)) stage.steps.push({ word, text });
    else if (ABOUT.has(word)) stage.about[word] = text;
    else throw new Error(`Dockerfile: ${word} is not known here`);
  }
  return stages;
}

/** `--from=build a b ./` as flags, sources and destination. */
export function readCopy(text) {
  const words = text.split(/\s+/);
  const flags = words
    .filter((word) => word.startsWith('--'))
    .map((word) => word.slice(2).split('='));
  const paths = words.filter((word) => !word.startsWith('--'));
  return { ...Object.fromEntries(flags), sources: paths.slice(0, -1), destination: paths.at(-1) };
}

/** `A=1 B=2` as an object; values have no blanks. */
export function readEnv(text) {
  return Object.fromEntries(text.split(/\s+/).map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
}

/** The words of an instruction in its exec form; the shell form would not pass signals on. */
export function readExec(text) {
  const words = JSON.parse(text.slice(text.indexOf('[')));
  if (!Array.isArray(words)) throw new Error(`Dockerfile: not in exec form: ${text}`);
  return words;
}

function newStage(text) {
  const [from, , name] = text.split(/\s+/);
  return { name, from, steps: [], about: {} };
}

function instructionsOf(content) {
  const lines = content.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  const whole = lines.join('\n').replaceAll(/\\\n/g, ' ').split('\n');
  return whole.map((line) => {
    const [, word, text] = /^\s*(\w+)\s+(.*?)\s*$/.exec(line);
    return { word, text };
  });
}
