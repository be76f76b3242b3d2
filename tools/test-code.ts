/**
 * Test code by its path, as a regular expression: tests (`*.test.ts`) and what they share
 * (`testing.ts`, `testing/…`, `test-….ts`). The product may not import it.
 */
export const testCode = String.raw`(^|/)(([^/]+\.test|testing|test-[^/]+)\.ts|testing/.+\.ts)$`;
