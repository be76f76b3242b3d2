/** The remaining budget of a computation. Each language has its own bounds and its own error for them. */
export interface Meter {
  /** Counts steps of work. */
  work(steps: number): void;
  /** Counts characters and elements; called before they are made. */
  make(size: number): void;
}

/** A fault of a call, as a clause. `argument`: the index of the argument at fault, as written. */
export class FunctionFault extends Error {
  override readonly name = 'FunctionFault';
  readonly argument: number | undefined;

  constructor(sentence: string, argument?: number) {
    super(sentence);
    this.argument = argument;
  }
}
