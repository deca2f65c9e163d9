/**
 * node scripts/image-without-docker.mjs <folder>: runs the steps of the Dockerfile in that folder, each
 * stage in a root of its own, and says as JSON what a container of the last stage would run. Nothing
 * runs as root: root runs it as the user 1000, as the image does. The home of the image's user is the
 * one place that steps may name.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { readCopy, readEnv, readExec, readStages } from './dockerfile.mjs';
import { ROOT, say } from './prepare.mjs';

const HOME = '/home/node';
const NODE_USER = { uid: 1000, gid: 1000 };
const user = process.getuid() === 0 ? NODE_USER : {};
const folder = path.resolve(process.argv[2]);
const npm = npmSettings();
const allowed = readAllowList(path.join(ROOT, '.dockerignore'));
const built = new Map();

for (const stage of readStages(path.join(ROOT, 'Dockerfile'))) {
  const name = stage.name ?? 'last';
  built.set(name, buildStage(name, stage));
}
process.stdout.write(`${JSON.stringify(describe(built.get('last')))}\n`);

function buildStage(name, { from, steps, about }) {
  const parent = built.get(from);
  const root = path.join(folder, name);
  const stage = { ...(parent ?? { user: 'root', env: {}, workdir: '/' }), root, about };
  if (parent) fs.cpSync(parent.root, root, { recursive: true, verbatimSymlinks: true });
  else fs.mkdirSync(path.join(root, HOME), { recursive: true });
  if (user.uid) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, path.join(root, HOME)]);
  for (const { word, text } of steps) {
    const begun = performance.now();
    Object.assign(stage, step(stage, word, text));
    say(`${name}: ${word} ${text} (${((performance.now() - begun) / 1_000).toFixed(1)} s)`);
  }
  return stage;
}

/** Answers what the step changes of its stage. */
function step(stage, word, text) {
  switch (word) {
    case 'USER':
      return { user: text };
    case 'WORKDIR':
      return { workdir: text };
    case 'ENV':
      return { env: { ...stage.env, ...readEnv(text) } };
    case 'COPY':
      return copy(stage, readCopy(text));
    default:
      return run(stage, text);
  }
}

function run(stage, command) {
  if (stage.user !== 'node') throw new Error(`would run as ${stage.user}: ${command}`);
  const { status, error } = spawnSync('/bin/sh', ['-c', outside(stage, command)], {
    ...user,
    cwd: outside(stage, stage.workdir),
    env: { ...environment(stage), ...npm },
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw error ?? new Error(`exit code ${status}: ${command}`);
}

/** As Docker does: a folder's content goes into the destination; what is copied is root's where root copies. */
function copy(stage, { from, sources, destination }) {
  const to = path.join(outside(stage, stage.workdir), destination);
  for (const source of sources) {
    const found = from ? outside(built.get(from), source) : inContext(source);
    const isFolder = fs.statSync(found).isDirectory();
    const target = isFolder ? to : path.join(to, path.basename(source));
    fs.cpSync(found, target, { recursive: true, verbatimSymlinks: true });
    if (user.uid) execFileSync('chown', ['-R', '0:0', target]);
  }
}

function inContext(source) {
  if (!allowed.has(source)) throw new Error(`.dockerignore leaves out ${source}`);
  return path.join(ROOT, source);
}

function readAllowList(file) {
  const lines = fs.readFileSync(file, 'utf8').split('\n');
  const [first, ...rest] = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (first !== '*' || rest.some((line) => !/^![\w.-]+$/.test(line)))
    throw new Error('.dockerignore is not a list of what is let in');
  return new Set(rest.map((line) => line.slice(1)));
}

/** Paths of the image as paths of this machine. */
function outside({ root }, text) {
  return text.replaceAll(HOME, path.join(root, HOME));
}

/** A container inherits nothing. */
function environment(stage) {
  const env = Object.entries(stage.env).map(([name, value]) => [name, outside(stage, value)]);
  const home = path.join(stage.root, HOME);
  return { PATH: process.env.PATH, HOME: home, ...Object.fromEntries(env) };
}

/** The registry and the network of this machine, and a copy of the packages that it has fetched already. */
function npmSettings() {
  const ask = (name) => execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim();
  const network = Object.entries(process.env).filter(([name]) =>
    /^(https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_(file|dir))$/i.test(name),
  );
  return {
    ...Object.fromEntries(network),
    npm_config_registry: ask('registry'),
    npm_config_cache: ownCache(ask('cache')),
  };
}

function ownCache(cache) {
  if (!user.uid) return cache;
  const copied = path.join(folder, 'npm-cache');
  if (fs.existsSync(path.join(cache, '_cacache')))
    fs.cpSync(path.join(cache, '_cacache'), path.join(copied, '_cacache'), { recursive: true });
  else fs.mkdirSync(copied, { recursive: true });
  execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, copied]);
  return copied;
}

function describe(stage) {
  return {
    user,
    workdir: outside(stage, stage.workdir),
    environment: environment(stage),
    command: readExec(stage.about.CMD),
    healthcheck: readExec(stage.about.HEALTHCHECK),
    stopSignal: stage.about.STOPSIGNAL,
  };
}
