import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'sim/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
    environment: 'node',
    setupFiles: ['test/support/properties.ts'],
    // Processes, not threads: tests start programs, change folders and load native code.
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  },
});
