/** Bounds of one template. */
export interface TemplateLimits {
  /** UTF-16 code units of the template itself. */
  readonly textLengthMax: number;
  /** How deep blocks and parentheses may stand in each other as they are written. */
  readonly nestingMax: number;
  /** Nodes that are evaluated, and pieces of 64 characters or 8 elements that are read or made. */
  readonly stepsMax: number;
  /** Of these one function, which nobody gets a turn in. */
  readonly callStepsMax: number;
  /** Characters and elements of what is made on the way. */
  readonly sizeMax: number;
  /** UTF-16 code units of what is rendered. */
  readonly outputLengthMax: number;
  /** How deep blocks and templates may be in each other when they run, and values in values. */
  readonly depthMax: number;
  /** Services, variables and files that one template may read. */
  readonly dependenciesMax: number;
}

/** A bound was met; the node at which it was adds its place. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
}

/** The bounds of one rendering, and how much of them is used. */
export class TemplateBudget {
  readonly limits: TemplateLimits;
  /** Since somebody else last had their turn. */
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
   * Counts a text that is gone through character by character in one piece; `each`: how dear that is,
   * in steps of about 40 ns.
   *
   * @throws LimitReached
   */
  walk(length: number, each = 1): void {
    this.work(1 + length * each);
  }

  /** The work of a function counts for the call as well. */
  called<T>(run: () => T): T {
    this.#callEnd = this.#steps + this.limits.callStepsMax;
    try {
      return run();
    } finally {
      this.#callEnd = Number.POSITIVE_INFINITY;
    }
  }

  /** Counts what is made, in characters and elements; call it before making it. */
  make(size: number): void {
    this.work(1 + Math.floor(size / 64));
    this.#size += size;
    const { sizeMax } = this.limits;
    if (!(this.#size <= sizeMax)) {
      throw new LimitReached(`Its values are larger than ${sizeMax} characters`);
    }
  }
}
