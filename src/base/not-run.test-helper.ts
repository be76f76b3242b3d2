/**
 * A test that needs what this machine cannot give is not run, and `npm test` says so at its end with
 * the reason. Where nothing may be left out (`--all`, or `CI=true`) it has failed. A lint keeps tests
 * from being left out in any other way (`tools/left-out.ts`).
 */
import type { TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    notRun?: string;
  }
}

/** What tests need of the machine, and what "not run, because" goes on with where that is not there. */
export interface Need {
  readonly isMet: boolean;
  readonly otherwise: string;
}

export const root: Need = {
  isMet: process.getuid?.() === 0,
  otherwise: 'they need root, and the tests run as another user',
};

/** Options of a test, or of a group of tests, that is run where every need is met. */
export function needing(...needs: readonly Need[]): TestOptions {
  const missing = needs.find(({ isMet }) => !isMet);
  return missing === undefined ? {} : { skip: true, meta: { notRun: missing.otherwise } };
}
