import type { CrossCheck } from './kind.ts';

/** What has to hold of all entries together. */
export const crossChecks: readonly CrossCheck[] = [];
