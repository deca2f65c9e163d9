/**
 * Loaded into a service process with `node --import`; FAIL=<point> FAIL_N=<k> makes it kill itself when it
 * comes to that point for the k-th time. It patches the built classes from outside, so that the product
 * holds no hook for it. Whatever it can't find is an error at the start: a point never rots unnoticed.
 * HURRY=<JSON> makes the times of webhooks shorter.
 */
import * as fs from 'node:fs';
import { Server } from 'node:http';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { FAILPOINTS } from './failpoint-table.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILD = path.join(ROOT, 'dist', 'src');
/** Their SQL in one line, as it is looked for. */
const REPOSITORIES = fs
  .readdirSync(BUILD, { recursive: true })
  .filter((file) => file.endsWith('.repository.js'))
  .map((file) => ({ file, code: oneLine(fs.readFileSync(path.join(BUILD, file), 'utf8')) }));
const { FAIL: name = '', FAIL_N: nth = '1', HURRY: hurry = '' } = process.env;
// What this process starts is not to die by it.
for (const variable of ['NODE_OPTIONS', 'FAIL', 'FAIL_N', 'HURRY']) delete process.env[variable];

let comings = 0;

function come() {
  comings += 1;
  if (comings === Number(nth)) process.kill(process.pid, 'SIGKILL');
}

async function atStatement({ sql: piece, at, changesRows = false }) {
  const { PooledConnection } = await load('database/pooled-connection.js');
  const { run } = PooledConnection.prototype;
  const inTransaction = new WeakSet();
  const reached = new WeakSet();
  PooledConnection.prototype.run = async function (sql, values) {
    const isPoint = oneLine(sql).includes(piece);
    if (isPoint && at === 'before') come();
    if (sql === 'COMMIT' && at === 'before-commit' && reached.has(this)) come();
    const answer = await run.call(this, sql, values);
    if (sql === 'BEGIN') inTransaction.add(this);
    const counts = isPoint && !(changesRows && answer.rowCount === 0);
    if (counts && at === 'after') come();
    if (counts && at === 'after-commit' && !inTransaction.has(this)) come();
    if (counts) reached.add(this);
    if (sql === 'COMMIT' && at === 'after-commit' && reached.has(this)) come();
    return answer;
  };
}

async function atMethod(point) {
  const { prototype } = (await load(point.file))[point.class];
  const method = prototype[point.method];
  prototype[point.method] = function (...args) {
    come();
    return method.apply(this, args);
  };
}

/** What would make a run wait for the better part of a minute after each death. */
async function shortenWebhooks(times) {
  const { WebhookQueue } = await load('delivery/webhook/webhook-queue.js');
  const { onModuleInit } = WebhookQueue.prototype;
  WebhookQueue.prototype.onModuleInit = function () {
    for (const time of Object.keys(times))
      if (!(time in this.times)) throw new Error(`Webhooks have no ${time} any more.`);
    Object.assign(this.times, times);
    return onModuleInit.call(this);
  };
}

function atAnswer({ operation, status, longerThan = '' }) {
  const [method, template] = operation.split(' ');
  const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  const { emit } = Server.prototype;
  Server.prototype.emit = function (event, request, response) {
    if (event === 'request' && request.method === method && pattern.test(pathOf(request)))
      response.once('finish', () => {
        // As it went out: what is given to writeHead is not among the headers of `getHeader`.
        const length = Number(/^content-length: (\d+)/im.exec(response._header)?.[1]);
        if (response.statusCode === status && length > longerThan.length) come();
      });
    return emit.apply(this, arguments);
  };
}

function pathOf(request) {
  return request.url.split('?', 1)[0];
}

function assertFound(each, point) {
  const complaint = 'operation' in point ? missingOperation(point) : missingCode(point);
  if (complaint) throw new Error(`Failpoint ${each}: ${complaint}`);
}

function missingOperation({ operation }) {
  const [method, template] = operation.split(' ');
  const contract = fs.readFileSync(path.join(ROOT, 'openapi.yaml'), 'utf8');
  const [, after] = contract.split(`\n  ${template}:\n`);
  const operations = after?.split(/\n {2}\S/, 1)[0] ?? '';
  return operations.includes(`    ${method.toLowerCase()}:`) ? undefined : `no ${operation}`;
}

function missingCode({ file, sql, class: className, method }) {
  const code = oneLine(fs.readFileSync(path.join(BUILD, file), 'utf8'));
  const [piece, times] = sql ? [sql, 1] : [`async ${method}(`, 1];
  if (!sql && !code.includes(`class ${className}`)) return `no class ${className} in ${file}`;
  const found = code.split(piece).length - 1;
  if (found !== times) return `"${piece}" is in ${file} ${found} times, not once`;
  const elsewhere = sql && REPOSITORIES.find((one) => one.file !== file && one.code.includes(sql));
  return elsewhere ? `"${sql}" is in ${elsewhere.file} as well` : undefined;
}

function load(file) {
  return import(path.join(BUILD, file));
}

function oneLine(text) {
  return text.replaceAll(/\s+/g, ' ');
}

for (const [each, point] of Object.entries(FAILPOINTS)) assertFound(each, point);
if (hurry !== '') await shortenWebhooks(JSON.parse(hurry));
if (name !== '') {
  const point = FAILPOINTS[name];
  if (!point) throw new Error(`There is no failpoint ${name}.`);
  if ('sql' in point) await atStatement(point);
  else if ('method' in point) await atMethod(point);
  else atAnswer(point);
}
