/**
 * Distributes pieces among askers who value them differently.
 *
 *  1. Every asker gets exactly its count, or the deal fails.
 *  2. No other deal has a greater total worth.
 */

export interface Asker {
  readonly count: number;
  /** By pool, the worth of a piece; `undefined`: the pool does not suit. */
  readonly worth: readonly (number | undefined)[];
}

/** The number of pieces, by asker and pool. */
export type Deal = readonly (readonly number[])[];

/** `sizes`: pieces by pool. Returns `undefined` if there are not enough pieces. */
export function deal(askers: readonly Asker[], sizes: readonly number[]): Deal | undefined {
  const alone = askers.map((asker) => serve(asker, sizes));
  if (alone.some((served) => served === undefined)) return undefined;
  const left = [...sizes];
  const dealt: number[][] = [];
  for (const [position, asker] of askers.entries()) {
    const served = position === 0 ? alone[0] : serve(asker, left);
    // An earlier asker took pieces that this asker needs.
    if (served === undefined || worthOf(asker, served) < worthOf(asker, alone[position]!)) {
      return dealInRounds(askers, sizes);
    }
    for (const [pool, pieces] of served.entries()) left[pool]! -= pieces;
    dealt.push(served);
  }
  return dealt;
}

export const worthOf = ({ worth }: Asker, pieces: readonly number[]): number =>
  pieces.reduce((sum, count, pool) => sum + (count > 0 ? count * worth[pool]! : 0), 0);

/**
 * The best pieces for an asker by itself. Among pools of equal worth it prefers the smallest that
 * has enough, so that larger pools stay whole.
 */
function serve({ count, worth }: Asker, sizes: readonly number[]): number[] | undefined {
  const served = sizes.map(() => 0);
  let missing = count;
  while (missing > 0) {
    let best = -1;
    for (const [pool, size] of sizes.entries()) {
      if (worth[pool] === undefined || size === served[pool]) continue;
      if (best < 0 || worth[pool] > worth[best]!) best = pool;
      else if (worth[pool] === worth[best] && fits(size, sizes[best]!, missing)) best = pool;
    }
    if (best < 0) return undefined;
    const taken = Math.min(missing, sizes[best]!);
    served[best] = taken;
    missing -= taken;
  }
  return served;
}

/** Whether a pool of this size is a better choice than one of the other size. */
function fits(size: number, other: number, missing: number): boolean {
  if (size >= missing !== other >= missing) return size >= missing;
  return size >= missing ? size < other : size > other;
}

/** Smaller differences come from rounding. */
const grain = 1e-9;

/**
 * Hands out pieces in rounds. Each round takes the exchange with the greatest gain; an exchange may
 * move pieces from one asker to another and replace them from a third pool.
 */
function dealInRounds(askers: readonly Asker[], sizes: readonly number[]): Deal | undefined {
  const left = [...sizes];
  const missing = askers.map(({ count }) => count);
  const dealt = askers.map(() => sizes.map(() => 0));
  while (missing.some((count) => count > 0)) {
    const exchange = bestExchange(askers, left, missing, dealt);
    if (exchange === undefined) return undefined;
    const [first] = exchange;
    const last = exchange.at(-1)!;
    let pieces = Math.min(missing[first!.asker]!, left[last.pool]!);
    for (const { asker, from } of exchange.slice(1)) {
      pieces = Math.min(pieces, dealt[asker]![from]!);
    }
    missing[first!.asker]! -= pieces;
    left[last.pool]! -= pieces;
    for (const { asker, pool, from } of exchange) {
      if (from >= 0) dealt[asker]![from]! -= pieces;
      dealt[asker]![pool]! += pieces;
    }
  }
  return dealt;
}

/** The asker gets a piece of the pool; it gives up a piece of `from`, unless that is -1. */
interface Step {
  readonly asker: number;
  readonly pool: number;
  readonly from: number;
}

/** Finds the exchange with the greatest gain: a longest path over pools (Bellman-Ford). */
function bestExchange(
  askers: readonly Asker[],
  left: readonly number[],
  missing: readonly number[],
  dealt: readonly (readonly number[])[],
): readonly Step[] | undefined {
  const gain = left.map(() => Number.NEGATIVE_INFINITY);
  const via: Step[] = [];
  const relax = (asker: number, from: number, base: number): boolean => {
    let isChanged = false;
    for (const [pool, worth] of askers[asker]!.worth.entries()) {
      if (worth === undefined || pool === from) continue;
      const value = base + worth;
      if (value <= gain[pool]! + grain) continue;
      gain[pool] = value;
      via[pool] = { asker, pool, from };
      isChanged = true;
    }
    return isChanged;
  };
  for (const [asker, count] of missing.entries()) if (count > 0) relax(asker, -1, 0);
  for (let round = 0, isChanged = true; isChanged && round <= left.length; round++) {
    isChanged = false;
    for (const pool of left.keys()) {
      if (gain[pool] === Number.NEGATIVE_INFINITY) continue;
      for (const [asker, pieces] of dealt.entries()) {
        if (pieces[pool] === 0) continue;
        const base = gain[pool]! - askers[asker]!.worth[pool]!;
        if (relax(asker, pool, base)) isChanged = true;
      }
    }
  }
  let end = -1;
  for (const [pool, size] of left.entries()) {
    if (size > 0 && gain[pool]! > (end < 0 ? Number.NEGATIVE_INFINITY : gain[end]! + grain)) {
      end = pool;
    }
  }
  if (end < 0) return undefined;
  const steps: Step[] = [];
  for (let pool = end; pool >= 0; pool = via[pool]!.from) steps.unshift(via[pool]!);
  return steps;
}
