/** The numbers of the overview as bars, the worst news first to be read and the good news first to be drawn. */
import type { Overview } from '../../../../src/model/overview/overview.ts';
import type { BarPart } from '../../parts/Bar.svelte';
import { numberText } from '../../parts/format.ts';
import { lookOf, type StatusKind, type Tone } from '../../parts/status.ts';

type Counts = Readonly<Record<string, number>>;

export const sumOf = (counts: Counts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

const bar = (kind: StatusKind, order: readonly string[], counts: Counts): readonly BarPart[] => {
  const others = Object.keys(counts).filter((status) => !order.includes(status));
  return [...order, ...others].map((status) => {
    const { word, tone } = lookOf(kind, status);
    return { word, tone, count: counts[status] ?? 0 };
  });
};

export const jobBar = (counts: Counts): readonly BarPart[] =>
  bar('job', ['running', 'pending', 'dead'], counts);

const goingOn = ['running', 'pending', 'unknown'];

/** The allocations that have not ended. */
export const allocationBar = (counts: Counts): readonly BarPart[] =>
  bar('allocation', goingOn, unended(counts));

export const unended = (counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).filter(([status]) => goingOn.includes(status)));

/** The allocations that have ended and are kept, in words: `205 failed, 1 complete`. */
export const endedWords = (counts: Counts): string =>
  Object.entries(counts)
    .filter(([status]) => !goingOn.includes(status))
    .map(
      ([status, count]) =>
        `${numberText(count)} ${lookOf('allocation', status).word.toLowerCase()}`,
    )
    .join(', ');

export const nodeBar = (counts: Counts): readonly BarPart[] =>
  bar('node', ['ready', 'initializing', 'draining', 'ineligible', 'disconnected', 'down'], counts);

export interface Use {
  readonly title: string;
  readonly unit: 'MHz' | 'MB';
  readonly allocated: number;
  readonly capacity: number;
  readonly share: number;
  readonly tone: Tone;
}

const nearFull = 0.9;

export function usesOf({ Capacity, Allocated }: Overview): readonly Use[] {
  const use = (title: string, unit: Use['unit'], key: keyof Overview['Capacity']): Use => {
    const [capacity, allocated] = [Capacity[key], Allocated[key]];
    const share = allocated / capacity;
    return { title, unit, capacity, allocated, share, tone: share >= nearFull ? 'warn' : 'ok' };
  };
  return [
    use('Processor', 'MHz', 'CPU'),
    use('Memory', 'MB', 'MemoryMB'),
    use('Disk', 'MB', 'DiskMB'),
  ].filter(({ capacity }) => capacity > 0);
}
