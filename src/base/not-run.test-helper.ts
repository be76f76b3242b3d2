/**
 * A test whose needs this machine does not meet is not run, and `npm test` reports the reason at its end.
 * With `--all` or `CI=true` it fails instead. A lint refuses every other way of leaving out a test
 * (`tools/left-out.ts`).
 */
import type { TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    notRun?: string;
  }
}

/** A need of tests. */
export interface Need {
  readonly isMet: boolean;
  /** The reason that follows "not run, because" if the need is not met. */
  readonly otherwise: string;
}

export const root: Need = {
  isMet: process.getuid?.() === 0,
  otherwise: 'they need root, and the tests run as another user',
};

/** Options of a test, or of a group of tests, with these needs. */
export function needing(...needs: readonly Need[]): TestOptions {
  const missing = needs.find(({ isMet }) => !isMet);
  return missing === undefined ? {} : { skip: true, meta: { notRun: missing.otherwise } };
}
