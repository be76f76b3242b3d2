/** Mistakes that `npm run sim -- --mistake NAME` plants in the product, each of them found by a checker. */
import { ofDeciding } from './deciding.ts';
import { ofJobs } from './jobs.ts';
import type { Mistake } from './mistake.ts';
import { ofNodes } from './nodes.ts';
import { ofPeering } from './peering.ts';
import { ofRestores } from './restores.ts';
import { ofServers } from './servers.ts';
import { ofTheState } from './state.ts';

export const mistakes: readonly Mistake[] = [
  ...ofDeciding,
  ...ofJobs,
  ...ofNodes,
  ...ofTheState,
  ...ofServers,
  ...ofPeering,
  ...ofRestores,
];

export const mistakeNamed = (name: string): Mistake | undefined =>
  mistakes.find((one) => one.name === name);
