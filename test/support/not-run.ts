/**
 * A test that needs what this machine cannot give is not run, and `npm test` says so at its end with
 * the reason. Where nothing may be left out (`--all`, or `CI=true`) it has failed.
 */
import type { TestContext } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    notRun?: string;
  }
}

/** `reason` goes on "not run, because". */
export function notRun({ task, skip }: TestContext, reason: string): never {
  if (process.env.TESTS_WITHOUT === 'nothing') throw new Error(`not run, because ${reason}`);
  task.meta.notRun = reason;
  return skip(reason);
}
