import { HclError, type HclFault, HclLimitError } from '../hcl/errors.ts';
import type { Range, Source } from '../hcl/source.ts';

/**
 * Gathers the faults of a job file and of the files beside it, so that they are reported together. Reading
 * ends at once if a bound is met, or if there are too many faults.
 */
export class Faults {
  private readonly found: HclFault[] = [];
  private readonly most: number;

  constructor(most: number) {
    this.most = most;
  }

  get any(): boolean {
    return this.found.length > 0;
  }

  add(source: Source, { start }: Range, sentence: string): void {
    this.addFault(source.fault(sentence, start.offset));
  }

  addFault(fault: HclFault): void {
    this.found.push(fault);
    if (this.found.length >= this.most) throw new HclError(this.found);
  }

  /** The result of `run`. If it throws faults, they are noted, and the result is `undefined`. */
  attempt<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof HclError)) throw error;
      // Reading ends if a bound was met, or if the error has the gathered faults themselves.
      if (error instanceof HclLimitError) throw this.with(error);
      if (error.faults.some((one) => this.found.includes(one))) throw error;
      for (const fault of error.faults) this.addFault(fault);
      return undefined;
    }
  }

  /** The error, with the faults that were found before it. */
  with(error: HclError): HclLimitError {
    return new HclLimitError([...new Set([...this.found, ...error.faults])]);
  }

  /** @throws HclError if there are any faults */
  throwIfAny(): void {
    if (this.found.length > 0) throw new HclError(this.found);
  }
}
