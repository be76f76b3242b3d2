/** Bounds of a template. */
export interface TemplateLimits {
  /** Length of the template in UTF-16 code units. */
  readonly textLengthMax: number;
  /** Depth of blocks and parentheses in the template. */
  readonly nestingMax: number;
  /** Number of evaluated nodes, and of pieces of 64 characters or 8 elements that are read or made. */
  readonly stepsMax: number;
  /** Steps of a single call of a function, in which no other work gets a turn. */
  readonly callStepsMax: number;
  /** Characters and elements of all intermediate values. */
  readonly sizeMax: number;
  /** Length of the rendered text in UTF-16 code units. */
  readonly outputLengthMax: number;
  /** Depth of blocks and templates while they run, and of values in values. */
  readonly depthMax: number;
  /** Number of services, variables and files that a template may read. */
  readonly dependenciesMax: number;
}

/** A bound was met. The node that met it adds its place. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
}

/** The bounds of a rendering, and its work so far. */
export class TemplateBudget {
  readonly limits: TemplateLimits;
  /** Steps since other work had its turn. */
  sinceTurn = 0;
  #steps = 0;
  #size = 0;
  #callEnd = Number.POSITIVE_INFINITY;

  constructor(limits: TemplateLimits) {
    this.limits = limits;
  }

  /** @throws LimitReached */
  work(steps: number): void {
    this.#steps += steps;
    this.sinceTurn += steps;
    const { stepsMax, callStepsMax } = this.limits;
    if (this.#steps > stepsMax) throw new LimitReached(`It takes more than ${stepsMax} steps`);
    if (this.#steps > this.#callEnd) {
      throw new LimitReached(`It takes more than ${callStepsMax} steps in one call`);
    }
  }

  /**
   * Counts a walk over the characters of a text without a pause. `each`: the cost of a character, in steps
   * of about 40 ns.
   *
   * @throws LimitReached
   */
  walk(length: number, each = 1): void {
    this.work(1 + length * each);
  }

  /** Runs a function, whose work is also bounded by `callStepsMax`. */
  called<T>(run: () => T): T {
    this.#callEnd = this.#steps + this.limits.callStepsMax;
    try {
      return run();
    } finally {
      this.#callEnd = Number.POSITIVE_INFINITY;
    }
  }

  /** Counts characters and elements before they are made. */
  make(size: number): void {
    this.work(1 + Math.floor(size / 64));
    this.#size += size;
    const { sizeMax } = this.limits;
    if (!(this.#size <= sizeMax)) {
      throw new LimitReached(`Its values are larger than ${sizeMax} characters`);
    }
  }
}
