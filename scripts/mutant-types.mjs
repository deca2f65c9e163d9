/** A mutant whose code would not compile is broken, and not caught. */
import * as path from 'node:path';
import ts from 'typescript';
import { mutate } from '../test/mutants/mutant-table.mjs';
import { ROOT } from './prepare.mjs';

/** Names that are unused because of what was taken out. */
const UNUSED = new Set([6133, 6192, 6196]);

/** Compiles the product once, and then each mutated file with it: `complaintOf(mutant)` is undefined when all is well. */
export function mutantTypes() {
  const config = path.join(ROOT, 'tsconfig.json');
  const { options, fileNames } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(config, ts.sys.readFile).config,
    ts.sys,
    ROOT,
  );
  let mutated = { file: '', text: '', version: 0 };
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => fileNames.filter((file) => file.includes('/src/')),
    getScriptVersion: (file) => (file === mutated.file ? String(mutated.version) : '0'),
    getScriptSnapshot: (file) =>
      ts.ScriptSnapshot.fromString(
        file === mutated.file ? mutated.text : (ts.sys.readFile(file) ?? ''),
      ),
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    readDirectory: ts.sys.readDirectory,
    realpath: ts.sys.realpath,
  });
  return (mutant) => {
    const file = path.join(ROOT, mutant.file);
    const text = mutate(mutant, ts.sys.readFile(file) ?? '');
    mutated = { file, text, version: mutated.version + 1 };
    const found = [
      ...service.getSyntacticDiagnostics(file),
      ...service.getSemanticDiagnostics(file),
    ].filter(({ code }) => !UNUSED.has(code));
    const texts = found.map(({ messageText }) =>
      ts.flattenDiagnosticMessageText(messageText, '\n'),
    );
    return texts.join('\n') || undefined;
  };
}
