import tseslint from 'typescript-eslint';

/** Wall time and chance come from the injected Clock and Ids, the environment from config/. */
const AMBIENT = [
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Inject Clock.',
  },
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'Inject Clock.' },
  {
    selector: "CallExpression[callee.object.name='Math'][callee.property.name='random']",
    message: 'Inject Ids or a jitter.',
  },
  {
    selector: "MemberExpression[object.name='process'][property.name='env']",
    message: 'Read the environment in src/config only.',
  },
];

/** One name for a thing, wherever it is imported. */
const NO_DEFAULT_EXPORT = { selector: 'ExportDefaultDeclaration', message: 'Name the export.' };

/** Statements stand in repositories, where they are found, explained and held to one layout. */
const SQL = '/\\b(SELECT .* FROM|INSERT INTO|DELETE FROM|UPDATE \\w+\\s+SET)\\b/s';
const SQL_ELSEWHERE = ['TemplateElement[value.raw=PATTERN]', 'Literal[value=PATTERN]'].map(
  (selector) => ({
    selector: selector.replace('PATTERN', SQL),
    message: 'SQL belongs into a *.repository.ts.',
  }),
);

export default tseslint.config(
  { ignores: ['dist/', 'data/', 'coverage/', 'node_modules/'] },
  ...tseslint.configs.recommended,
  {
    files: ['{src,test,bench}/**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/consistent-type-definitions': ['error', 'interface'],
      '@typescript-eslint/no-extraneous-class': 'off',
      'no-console': 'error',
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: 'class-validator',
              importNames: ['IsOptional'],
              message: 'It lets null pass unchecked: use IfGiven.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/**/*.spec.ts'],
    rules: {
      'no-restricted-syntax': ['error', ...AMBIENT, NO_DEFAULT_EXPORT, ...SQL_ELSEWHERE],
      'max-lines': ['error', { max: 300 }],
      'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', { max: 7 }],
    },
  },
  {
    files: ['src/**/*.repository.ts'],
    rules: { 'no-restricted-syntax': ['error', ...AMBIENT, NO_DEFAULT_EXPORT] },
  },
  {
    files: ['src/common/clock.ts', 'src/config/environment.ts'],
    rules: { 'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT, ...SQL_ELSEWHERE] },
  },
  {
    files: ['{test,bench}/**/*.ts', 'src/**/*.spec.ts'],
    rules: {
      '@typescript-eslint/unbound-method': 'off',
      'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT],
    },
  },
  {
    // The wire shape is what these tests assert: bodies come in as `any` and are matched.
    files: ['{test,bench}/**/*.ts'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
);
