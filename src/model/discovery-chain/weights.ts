/**
 * Shares of the traffic as weights: hundredths of a percent that add up to 100 exactly. The hundredths lost
 * by rounding go to the shares with the greatest loss; of equal shares, to the first.
 */
export function weightsOf(shares: readonly number[]): readonly number[] {
  const units = shares.map((share) => Math.floor(share * 100 + roundingError));
  let missing = 100_00 - units.reduce((total, unit) => total + unit, 0);
  const byLoss = shares
    .map((share, index) => ({ index, loss: share * 100 - units[index]! }))
    .sort((left, right) => right.loss - left.loss || left.index - right.index);
  for (const { index } of byLoss) {
    if (missing <= 0) break;
    units[index]!++;
    missing--;
  }
  return units.map((unit) => unit / 100);
}

/** 33.33 * 100 is a little less than 3333. */
const roundingError = 1e-6;
