/**
 * The import table: who may import whom. A folder that is not in the table may import nothing
 * but the base levels, so a new folder has to be entered here before it can be used.
 */
const BASE = ['common', 'config', 'database', 'auth'];
const IMPORTS = {
  common: [],
  config: ['common'],
  database: ['common', 'config'],
  auth: ['common', 'config', 'database'],
  instances: BASE,
  settings: BASE,
  events: BASE,
  health: BASE,
  metrics: BASE,
  outbound: BASE,
  secrets: BASE,
  apps: [...BASE, 'secrets', 'events'],
  targets: [...BASE, 'settings', 'events'],
  upstreams: [...BASE, 'settings', 'events', 'metrics', 'outbound', 'secrets'],
  policy: [...BASE, 'settings', 'upstreams'],
  delivery: [...BASE, 'settings', 'apps', 'events', 'metrics', 'targets', 'outbound'],
  'background-calls': [
    ...BASE,
    ...['instances', 'settings', 'apps', 'events', 'metrics', 'targets', 'delivery'],
  ],
  'tool-calls': [
    ...BASE,
    ...['settings', 'metrics', 'policy', 'upstreams', 'targets', 'background-calls'],
  ],
  recovery: [...BASE, 'instances', 'settings', 'events', 'targets', 'delivery', 'background-calls'],
};
const FRAMEWORK_FREE =
  '(-status|-mode|-message|-race|-text|-texts|-tree|-parts|-type|-path|backoff)\\.ts$';

const wrongArrows = Object.entries(IMPORTS).map(([folder, allowed]) => ({
  name: `${folder}-imports-only-its-table-row`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: '^src/', pathNot: `^src/(${[folder, ...allowed].join('|')})/` },
}));

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...wrongArrows,
    {
      name: 'only-listed-folders',
      comment: 'Enter a new folder in the import table first.',
      severity: 'error',
      from: {
        path: '^src/[^/]+/',
        pathNot: `^src/(${[...Object.keys(IMPORTS), 'demo'].join('|')})/`,
      },
      to: {},
    },
    {
      name: 'pure-files-import-no-framework',
      severity: 'error',
      from: { path: FRAMEWORK_FREE },
      to: { path: 'node_modules/(@nestjs|pg|fastify|undici|@modelcontextprotocol)' },
    },
    {
      name: 'http-is-imported-by-its-module-only',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: ['/http/', '\\.module\\.ts$'] },
      to: { path: '^src/[^/]+/http/' },
    },
    {
      name: 'nothing-imports-the-composition',
      severity: 'error',
      from: { path: '^src/[^/]+/' },
      to: { path: '^src/[^/]+\\.ts$' },
    },
    {
      name: 'no-development-packages',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.spec\\.ts$' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
