/** Keeps the code of test files and of what they import, compiled, for the next process and the next run. */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { afterAll } from 'vitest';

enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/roster/tests'));

afterAll(() => flushCompileCache());
