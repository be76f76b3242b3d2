import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { complete } from '../model/complete.ts';
import { canonicalizeJob } from '../model/job/canonicalize.ts';
import { NodeSchema } from '../model/node/node.ts';
import { MemoryDisk } from './engine/memory.ts';
import { memoryState } from './state.test-helper.ts';
import { jobs, jobVersions, nodes } from './tables.ts';

test('a node of before drains and devices were kept has none', () => {
  const { DrainStrategy: _, LastDrain: __, ...old } = complete(NodeSchema, { ID: 'a' });
  const { Devices: ___, ...NodeResources } = old.NodeResources;
  const upcast = nodes.upcast?.({ ...old, NodeResources }, 1);
  expect(upcast).toEqual(complete(NodeSchema, { ID: 'a' }));
});

test('the groups of a job are written once, and not again with its status', async () => {
  const [world, disk] = [new SimulatedWorld(1), new MemoryDisk()];
  const state = await memoryState([jobs, jobVersions], world, disk);
  const Meta = { large: 'x'.repeat(100_000) };
  const job = canonicalizeJob({ ID: 'a', TaskGroups: [{ Name: 'a', Meta }] });
  for (const Status of ['pending', 'running', 'dead'] as const) {
    await state.write((transaction) => {
      const known = transaction.table(jobs).get('default', 'default', 'a') ?? job;
      transaction.table(jobVersions).put(transaction.table(jobs).put({ ...known, Status }));
    });
  }
  expect(disk.usedBytes).toBeLessThan(150_000);
  const rowsOf = (of: typeof state) =>
    [jobs, jobVersions].map((table) => [...of.read().table(table).scan()]);
  const before = rowsOf(state);
  await state.close();
  expect(rowsOf(await memoryState([jobs, jobVersions], world, disk))).toEqual(before);
});
