import { readFile, writeFile } from 'node:fs/promises';
import { renderOpenApi } from './openapi-document.js';

const FILE = 'openapi.yaml';

/** Writes the contract; with `--check` only says whether the file in the repository is the same. */
async function main(): Promise<void> {
  const rendered = await renderOpenApi();
  if (!process.argv.includes('--check')) {
    await writeFile(FILE, rendered);
    return;
  }
  const current = await readFile(FILE, 'utf8').catch(() => '');
  if (current === rendered) return;
  process.stderr.write(`${FILE} differs from the code: npm run openapi:write\n`);
  process.exitCode = 1;
}

await main();
