/**
 * Counts values by upper bounds. It has no labels and finds nothing by name, so that each request and each commit can
 * afford it.
 */
export class Histogram {
  readonly bounds: readonly number[];
  /** By the first bound that a value does not exceed; the last are beyond all bounds. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array(bounds.length + 1).fill(0);
  }

  /** Returns the position of the count that was raised. */
  observe(value: number): number {
    let at = 0;
    while (at < this.bounds.length && value > this.bounds[at]!) at++;
    this.counts[at]!++;
    this.sum += value;
    return at;
  }
}
