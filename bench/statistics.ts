/** The spread of at least one number. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: percentile(values, 50), min: Math.min(...values), max: Math.max(...values) };
}

/** The percentile of the values; at 50 the mean of the middle two. */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) throw new Error('no values were measured');
  const sorted = [...values].sort((left, right) => left - right);
  const half = sorted.length / 2;
  if (percent === 50 && Number.isInteger(half)) return (sorted[half - 1]! + sorted[half]!) / 2;
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)]!;
}
