import { limits } from './limits.ts';
import type { Program } from './program.ts';
import { percentile, spreadOf } from './statistics.ts';
import type { Target } from './target.ts';

/** A line of the results: a figure of each run, for Roster and perhaps for the baseline. */
export interface Figure {
  readonly name: string;
  /** `/s`, `ms`, `KB` … */
  readonly unit: string;
  readonly ours: readonly number[];
  readonly baseline?: readonly number[];
  readonly target?: Goal;
}

/** The target of the median, or of the ratio of the medians. */
export interface Goal {
  readonly of: 'median' | 'ratio';
  readonly is: 'at least' | 'at most';
  readonly value: number;
}

export interface Results {
  /** The baseline that was measured, where it depends on the setting. */
  readonly baseline?: string;
  readonly figures: readonly Figure[];
  /** Conditions under which the figures hold. */
  readonly notes: readonly string[];
}

export interface Setting {
  readonly runs: number;
  /** A running server to measure instead of a new one; some benchmarks cannot use it. */
  readonly given: Target | undefined;
  /** Rest of an agent before its memory is read, or the time over which the heap of a page grows; `undefined`: as usual. */
  readonly restSeconds: number | undefined;
  /** Of the web interface, only the pages with more than anybody could read. */
  readonly floodsOnly: boolean;
  /** Another program that serves the same paths; `undefined`: its figures are carried over. */
  readonly peer: Program | undefined;
  readonly progress: (text: string) => void;
}

export interface Benchmark {
  readonly name: string;
  readonly title: string;
  /** The baseline, in one sentence. */
  readonly baseline: string;
  /** Whether it can measure a server that it did not start. */
  readonly takesGiven: boolean;
  /** Whether its loads come from `wrk`. */
  readonly usesWrk?: boolean;
  /** Whether its figures depend on how fast the disk is. */
  readonly isDurable?: boolean;
  readonly run: (setting: Setting) => Promise<Results>;
}

/** The durations of the consecutive operations of a run, in milliseconds. */
interface Took {
  readonly ours: readonly (readonly number[])[];
  readonly baseline: readonly (readonly number[])[];
}

/** Figures of the median of each run, which must be at most `mostMs`, and of the slowest operation. */
export function tookFigures(name: string, { ours, baseline }: Took, mostMs: number): Figure[] {
  const slowest = (run: readonly number[]) => Math.max(...run);
  const middle = (run: readonly number[]) => percentile(run, 50);
  return [
    {
      name: `${name}, median of a run`,
      unit: 'ms',
      ours: ours.map(middle),
      baseline: baseline.map(middle),
      target: { of: 'median', is: 'at most', value: mostMs },
    },
    {
      name: `${name}, slowest of a run`,
      unit: 'ms',
      ours: ours.map(slowest),
      baseline: baseline.map(slowest),
    },
  ];
}

/** Alternates between Roster and the baseline, so that other work of the machine slows both alike. */
export async function alternate<A, B>(
  setting: Setting,
  ours: (run: number) => Promise<A>,
  baseline: (run: number) => Promise<B>,
): Promise<{ readonly ours: readonly A[]; readonly baseline: readonly B[] }> {
  const results = { ours: [] as A[], baseline: [] as B[] };
  for (let run = 1; run <= setting.runs; run++) {
    setting.progress(`run ${run} of ${setting.runs}`);
    results.ours.push(await ours(run));
    results.baseline.push(await baseline(run));
  }
  return results;
}

export function ratioOf({ ours, baseline }: Figure): number | undefined {
  if (baseline === undefined) return undefined;
  return spreadOf(ours).median / spreadOf(baseline).median;
}

/** `undefined`: there is no target. */
export function isMet(figure: Figure): boolean | undefined {
  const { target, ours } = figure;
  if (target === undefined) return undefined;
  const value = target.of === 'ratio' ? ratioOf(figure)! : spreadOf(ours).median;
  return target.is === 'at least' ? value >= target.value : value <= target.value;
}

/**
 * Repeats `check` until it returns a value, for conditions that cannot be awaited. A check that waits by itself, as a
 * blocking query does, needs no pause: `lookAgainMs` is 0.
 */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined>,
  lookAgainMs: number = limits.lookAgainMs,
): Promise<T> {
  const deadlineMs = performance.now() + limits.conditionMs;
  for (;;) {
    const found = await check();
    if (found !== undefined) return found;
    if (performance.now() > deadlineMs) {
      throw new Error(`${what} did not come about within ${limits.conditionMs / 1000} s`);
    }
    if (lookAgainMs > 0) await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}
