/** Jest's transform of TypeScript, which breaks the one file that the mutant MUTANT is about. No file is written. */
import * as path from 'node:path';
import swcJest from '@swc/jest';
import { MUTANTS, mutate } from './mutant-table.mjs';

const swc = swcJest.createTransformer();
const mutant = MUTANTS[process.env.MUTANT];
if (!mutant) throw new Error(`There is no mutant ${process.env.MUTANT}.`);
const mutated = path.resolve(mutant.file);

const read = (source, file) => (file === mutated ? mutate(mutant, source) : source);

export default {
  process: (source, file, options) => swc.process(read(source, file), file, options),
  processAsync: (source, file, options) => swc.processAsync(read(source, file), file, options),
  // By what the file becomes, so that nothing broken is ever taken for the product.
  getCacheKey: (source, file, options) => swc.getCacheKey(read(source, file), file, options),
};
