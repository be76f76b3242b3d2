/** Random choices of a seed. */
export interface Choices {
  /** A number in [0, 1). */
  readonly fraction: () => number;
  /** An integer in [0, bound). */
  readonly below: (bound: number) => number;
}

/** Mulberry32: small, fast, and the same everywhere. */
export function choicesOf(seed: number): Choices {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { fraction, below: (bound) => Math.floor(fraction() * bound) };
}
