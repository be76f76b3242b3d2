import { HclError, type HclFault, HclLimitError } from '../hcl/errors.ts';
import type { Range, Source } from '../hcl/source.ts';

/**
 * Gathers what is wrong with a job file and the files beside it, so that one look tells all of it.
 * When a bound is met, and when there are too many faults, it ends at once.
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

  /** The result of `run`, or `undefined` when it fails with faults, which are noted. */
  attempt<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof HclError)) throw error;
      // A bound was met, or these are the gathered faults themselves: nothing comes after that.
      if (error instanceof HclLimitError) throw this.with(error);
      if (error.faults.some((one) => this.found.includes(one))) throw error;
      for (const fault of error.faults) this.addFault(fault);
      return undefined;
    }
  }

  /** The error with what was found before it. */
  with(error: HclError): HclLimitError {
    return new HclLimitError([...new Set([...this.found, ...error.faults])]);
  }

  /** @throws HclError when there are any */
  throwIfAny(): void {
    if (this.found.length > 0) throw new HclError(this.found);
  }
}
