import type { Figure } from './benchmark.ts';
import type { LongTask } from './ui-tab.ts';

const longTaskMs = 50;
const freePercentMin = 99.9;

export const figure = (name: string, unit: string, value: number, most?: number): Figure => ({
  name,
  unit,
  ours: [value],
  ...(most !== undefined && { target: { of: 'median', is: 'at most', value: most } }),
});

/** Figures of the tasks in so many seconds. */
export function longTaskFigures(
  prefix: string,
  tasks: readonly LongTask[],
  seconds: number,
): Figure[] {
  const long = tasks.filter(({ duration }) => duration > longTaskMs);
  const busy = new Set(long.map(({ startTime }) => Math.floor(startTime / 1000)));
  return [
    {
      ...figure(
        `${prefix}seconds without a task over ${longTaskMs} ms`,
        '%',
        // Their first second may have begun before.
        (100 * Math.max(0, seconds - busy.size)) / seconds,
      ),
      target: { of: 'median', is: 'at least', value: freePercentMin },
    },
    figure(`${prefix}the longest task`, 'ms', Math.max(0, ...long.map(({ duration }) => duration))),
  ];
}

/** The slope of the line through the points, by least squares. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const rise = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return rise / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}
