import { readerLimits } from './limits.ts';

/** What the number of readers depends on. */
export interface ReaderRoom {
  readonly processors: number;
  /** The memory of the machine. */
  readonly memoryBytes: number;
  /** The size of the store at the start of the agent. */
  readonly storedBytes: number;
}

/**
 * The readers of an agent whose settings tell no number: one for each processor that has nothing else to do, as long as
 * the memory has room for their copies of the state. docs/operations/readers.md "How many"
 */
export function readersFor({ processors, memoryBytes, storedBytes }: ReaderRoom): number {
  const { processorsKept, chosenMax, memoryPart, emptyBytes, bytesOfStored } = readerLimits;
  const fitting = (memoryBytes * memoryPart) / (emptyBytes + storedBytes * bytesOfStored);
  return Math.max(0, Math.min(processors - processorsKept, chosenMax, Math.floor(fitting)));
}
