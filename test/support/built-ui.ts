/** Builds the web interface before the tests that open it, unless it is as new as its sources. */
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { cachedUi } from '../../tools/ui/cached.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the built interface. */
    uiFolder: string;
  }
}

export default async function buildOnce({ provide }: TestProject): Promise<void> {
  provide('uiFolder', await cachedUi(fileURLToPath(new URL('../..', import.meta.url))));
}
