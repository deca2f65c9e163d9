/**
 * stdio-tee.mjs <file> <script> [arguments]: runs a server over stdio and writes down what it is told,
 * and its own id.
 */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [file, ...server] = process.argv.slice(2);
appendFileSync(file, `${JSON.stringify({ pid: process.pid })}\n`);
const child = spawn(process.execPath, server, { stdio: ['pipe', 'inherit', 'inherit'] });
process.stdin.on('data', (chunk) => {
  appendFileSync(file, chunk);
  child.stdin.write(chunk);
});
process.stdin.on('end', () => child.stdin.end());
child.on('exit', (code) => process.exit(code ?? 1));
