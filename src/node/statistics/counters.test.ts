import { expect, test } from 'vitest';
import type { UsageSource } from './allocation-statistics.ts';
import { countersOf } from './counters.ts';

test('a task whose driver fails to tell its usage is left out, and the machine and other tasks are counted', async () => {
  const source = {
    id: 'a1',
    taskNames: () => ['fails', 'runs'],
    usage: async (task: string) => {
      if (task === 'fails') throw new Error('connect ECONNREFUSED /var/run/docker.sock');
      return { cpuUserMs: 2, cpuSystemMs: 3, memoryRssBytes: 7 };
    },
  } as unknown as UsageSource;
  const { Machine, Tasks } = await countersOf('/', [source], () => undefined);
  expect(Tasks).toEqual([{ AllocID: 'a1', Task: 'runs', CpuMs: 5, MemoryBytes: 7 }]);
  expect(Machine.Cores).toBeGreaterThan(0);
});
