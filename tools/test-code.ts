/**
 * Test code by its path, as a regular expression: tests (`*.test.ts`) and what they share, which is
 * named `testing`, `fixture(s)`, `harness`, `crash`, `test-helper` or `test-…`, as a file (`harness.ts`,
 * `sqlite.fixture.ts`) or, `testing/`, as a folder. The product may not import it.
 */
export const testCode = String.raw`([/.](test|testing|fixture|fixtures|harness|crash|test-helper)|/test-[^/]+)\.ts$|/testing/`;
