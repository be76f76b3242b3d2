/** Where a mistake is planted: what stands there once, and what stands there instead. */
export interface Place {
  readonly file: string;
  readonly right: string;
  readonly wrong: string;
}

/** A life in which the mistake is found, as `npm run sim` takes it. */
export interface Life {
  readonly seed: number;
  readonly nodes: number;
  readonly hours: number;
  /** 1, if it is not given. */
  readonly clusters?: number;
  readonly servers?: number;
}

export interface Mistake {
  readonly name: string;
  readonly places: readonly Place[];
  /** Whose checker finds it. */
  readonly guarantee: string;
  readonly life: Life;
}
