/**
 * Test code by its path, as a regular expression: tests (`*.test.ts`), and beside them what they share
 * (`*.test-helper.ts`). The product may not import it.
 */
export const testCode = String.raw`\.(test|test-helper)\.ts$`;
