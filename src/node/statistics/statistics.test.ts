import { expect, test } from 'vitest';
import type { DriverUsage } from '../drivers/driver.ts';
import { coreUsage, mountOf, parseCores, parseMemory } from './machine.ts';
import { parseUsage } from './process-usage.ts';
import { sumOf, type TaskSample, taskUsage } from './rates.ts';

const stat =
  '7 (a b) c) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 30 20 20 0 1 0 12345 8000000 400 18446744073709551615';

test('a process is read with the usage of its children', () => {
  expect(parseUsage(stat, 'VmRSS:\t    1600 kB\nVmSwap:\t      12 kB\n')).toEqual({
    cpuUserMs: 2800,
    cpuSystemMs: 700,
    rssBytes: 1600 * 1024,
    swapBytes: 12 * 1024,
  });
});

test('a process without memory, such as a zombie, uses none', () => {
  expect(parseUsage(stat, 'State:\tZ (zombie)\n')).toMatchObject({ rssBytes: 0, swapBytes: 0 });
});

const sample = (atMs: number, usage: Partial<DriverUsage>): TaskSample => ({
  atMs,
  usage: { cpuUserMs: 0, cpuSystemMs: 0, memoryRssBytes: 4096, pids: [7], ...usage },
  processes: new Map([
    [7, { cpuUserMs: usage.cpuUserMs ?? 0, cpuSystemMs: 0, rssBytes: 4096, swapBytes: 8 }],
  ]),
});

test('a task that used 1.2 s of processor time in a second has 120 percent', () => {
  const before = sample(1000, { cpuUserMs: 500, cpuSystemMs: 100 });
  const after = sample(2000, { cpuUserMs: 1500, cpuSystemMs: 300 });
  const usage = taskUsage(before, after, 2000, 99);
  expect(usage).toMatchObject({
    Timestamp: 99,
    ResourceUsage: {
      CpuStats: { UserMode: 100, SystemMode: 20, Percent: 120, TotalTicks: 2400 },
      MemoryStats: { RSS: 4096, Usage: 4096, Swap: 8, Measured: ['RSS', 'Swap', 'Usage'] },
    },
    Pids: { 7: { CpuStats: { Percent: 100, TotalTicks: 2000 }, MemoryStats: { RSS: 4096 } } },
  });
});

test('counters that began anew, or no elapsed time, give no rate', () => {
  const before = sample(1000, { cpuUserMs: 500 });
  const { CpuStats } = taskUsage(before, sample(2000, { cpuUserMs: 10 }), 2000, 0).ResourceUsage;
  expect(CpuStats).toMatchObject({ Percent: 0, TotalTicks: 0 });
  expect(taskUsage(before, before, 2000, 0).ResourceUsage.CpuStats.Percent).toBe(0);
});

test('further values of a driver are named as measured', () => {
  const more = {
    memoryCacheBytes: 10,
    memoryMaxUsageBytes: 9000,
    throttledPeriods: 3,
    throttledMs: 7,
  };
  const { CpuStats, MemoryStats } = taskUsage(
    sample(0, more),
    sample(1000, more),
    1,
    0,
  ).ResourceUsage;
  expect(CpuStats).toMatchObject({ ThrottledPeriods: 3, ThrottledTime: 7e6 });
  expect(CpuStats.Measured).toContain('Throttled Time');
  expect(MemoryStats).toMatchObject({ Cache: 10, MaxUsage: 9000, Usage: 4106 });
  expect(MemoryStats.Measured).toEqual(['RSS', 'Swap', 'Usage', 'Cache', 'Max Usage']);
});

test('the usage of an allocation is the sum over its tasks', () => {
  const { ResourceUsage } = taskUsage(sample(0, {}), sample(1000, { cpuUserMs: 500 }), 1000, 0);
  expect(sumOf([ResourceUsage, ResourceUsage])).toMatchObject({
    CpuStats: { Percent: 100, TotalTicks: 1000, Measured: ResourceUsage.CpuStats.Measured },
    MemoryStats: { RSS: 8192, Measured: ['RSS', 'Swap', 'Usage'] },
  });
  expect(sumOf([])).toMatchObject({ CpuStats: { Percent: 0, Measured: [] }, DeviceStats: [] });
});

const cores = (cpu0: string) => parseCores(`cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 ${cpu0}\nintr 1\n`);

test('the elapsed time of each core is divided', () => {
  const [core] = coreUsage(
    cores('100 0 50 800 40 5 4 1 0 0'),
    cores('150 10 60 900 60 10 9 1 0 0'),
  );
  expect(core).toEqual({ CPU: 'cpu0', User: 30, System: 10, Idle: 60, Total: 40 });
});

test('a core without measurable work is at zero', () => {
  const still = cores('1 1 1 1 1 1 1 1 0 0');
  expect(coreUsage(still, still)).toEqual([{ CPU: 'cpu0', User: 0, System: 0, Idle: 0, Total: 0 }]);
});

test('used memory is the part that is not available', () => {
  expect(parseMemory('MemTotal:  1000 kB\nMemFree: 100 kB\nMemAvailable: 400 kB\n')).toEqual({
    Total: 1_024_000,
    Free: 102_400,
    Available: 409_600,
    Used: 614_400,
  });
});

test.each([
  ['/var/lib/x', { Device: '/dev/b', Mountpoint: '/var/lib' }],
  ['/var/lib', { Device: '/dev/b', Mountpoint: '/var/lib' }],
  ['/var/library', { Device: '/dev/a', Mountpoint: '/' }],
  ['/with space/x', { Device: 'tmpfs', Mountpoint: '/with space' }],
])('%s is on its mount', (path, mount) => {
  const mounts = [
    '1 0 8:1 / / rw - ext4 /dev/a rw',
    '2 1 8:2 / /var/lib rw,noatime shared:1 - xfs /dev/b rw',
    '3 1 0:9 / /with\\040space rw - tmpfs tmpfs rw',
    '',
  ].join('\n');
  expect(mountOf(mounts, path)).toEqual(mount);
});
