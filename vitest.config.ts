import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** With `ROSTER_TEST_BUNDLE=1` tests run in the bundle, and otherwise in the source. */
const isBundled = process.env.ROSTER_TEST_BUNDLE === '1';
const plugins = isBundled ? [await bundledSource()] : [];

const shared = {
  environment: 'node',
  setupFiles: [
    'test/support/compile-cache.ts',
    'test/support/no-leftovers.ts',
    'test/support/properties.ts',
  ],
  // Processes, not threads: tests start programs, change folders and load native code.
  pool: 'forks',
  testTimeout: 30_000,
  hookTimeout: 30_000,
  teardownTimeout: 10_000,
  // Of `expect.poll`, which by itself gives up after a second.
  expect: { poll: { timeout: 20_000 } },
  execArgv: ['--disable-warning=ExperimentalWarning'],
  // Node itself loads the source, as it does for programs, and keeps the compiled code. Only Vite can load the bundle in its place.
  experimental: { viteModuleRunner: isBundled, nodeLoader: false },
} as const;

/** Whose tests start real programs, change folders, or measure the process that they run in. */
const programs = [
  'src/{node,cli/completion,cli/login,state}/**/*.test.ts',
  'sim/**/*.test.ts',
  'test/*.test.ts',
  'test/{chaos,cluster,crash,docs,e2e,escape,etcd,examples,soak,support,upgrade}/**/*.test.ts',
  'test/api/{files,http}.test.ts',
  'tools/**/*.test.ts',
];

/** Whose tests open the web interface in a browser. */
const inBrowsers = ['test/ui/**/*.test.ts'];

export default defineConfig({
  test: {
    // Many tests wait for programs most of the time, so two cores have work for a third process.
    maxWorkers: Math.max(3, availableParallelism()),
    projects: [
      {
        plugins,
        test: {
          ...shared,
          name: 'programs',
          include: programs,
          exclude: ['**/node_modules/**'],
          // They wait for what happens, and give it time on a machine that is busy otherwise.
          testTimeout: 90_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'in browsers',
          include: inBrowsers,
          exclude: ['**/node_modules/**'],
          // The interface is built once, before the first of them.
          globalSetup: ['test/support/built-ui.ts'],
          testTimeout: 90_000,
          hookTimeout: 60_000,
        },
      },
      {
        plugins,
        test: {
          ...shared,
          name: 'in process',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...programs, ...inBrowsers],
          // They share nothing that they change, so a process takes one file after the other, and loads
          // the server only once.
          isolate: false,
        },
      },
    ],
  },
});

/** Loaded at run time, since Vite makes one file of this one and all that it imports. */
async function bundledSource() {
  const url = new URL('tools/bundled-source.test-helper.ts', import.meta.url);
  const module: typeof import('./tools/bundled-source.test-helper.ts') = await import(url.href);
  return module.bundledSource(import.meta.dirname);
}
