import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { mebibyte } from '../base/units.ts';
import { limits } from '../model/limits.ts';
import type { Engine } from './engine/engine.ts';
import { type StateLimits, stateLimits } from './limits.ts';
import { Snapshots } from './snapshots.ts';
import { View } from './view.ts';

/** The size of the log, in MiB, at which the next snapshot is taken after a snapshot of this size. */
async function sizeAfter(snapshotMib: number, given: Partial<StateLimits>): Promise<number> {
  let saved = 0;
  const engine = {
    saveSnapshot: async () => {
      saved++;
    },
  } as unknown as Engine;
  const { timers } = new SimulatedWorld(1);
  const report = (error: unknown) => {
    throw error;
  };
  const options = { engine, timers, report, limits: { ...stateLimits, ...given } };
  const stored = { snapshot: snapshotMib * mebibyte, log: 0 };
  const snapshots = new Snapshots(options, stored);
  const reached = { view: new View(1, new Map()), hash: undefined, epoch: 1 };
  for (let size = 1; ; size++) {
    snapshots.grew(mebibyte, reached);
    if (saved > 0) return size - 1;
  }
}

test.each<[string, number, number, Partial<StateLimits>]>([
  ['of one process', 0, 64, {}],
  ['of one process', 1000, 2000, {}],
  ['that servers share', 0, 64, limits.sharedLog],
  ['that servers share', 100, 200, limits.sharedLog],
  ['that servers share', 200, 384, limits.sharedLog],
  ['that servers share', 1000, 384, limits.sharedLog],
  ['that servers share', 2000, 500, limits.sharedLog],
])('a log %s grows, after a snapshot of %i MiB, to %i MiB', async (_, mib, size, given) => {
  expect(await sizeAfter(mib, given)).toBe(size);
});
