import { deciderLimits } from '../scheduling/decider/limits.ts';
import { readerLimits } from './limits.ts';

/** What the number of threads depends on. */
export interface ThreadRoom {
  readonly processors: number;
  /** The memory of the machine. */
  readonly memoryBytes: number;
  /** The size of the store at the start of the agent. */
  readonly storedBytes: number;
}

/** Threads with copies of the state. */
export interface Threads {
  readonly readers: number;
  readonly decider: boolean;
}

/**
 * The threads of an agent whose settings do not tell all of them. Readers: one for each processor that has nothing else
 * to do. A decider: where there are several of these, and the state is so large that decisions take long. All of them
 * together as long as the memory has room for their copies of the state. docs/operations/readers.md "How many"
 */
export function threadsFor(
  { processors, memoryBytes, storedBytes }: ThreadRoom,
  given: { readonly [Name in keyof Threads]?: Threads[Name] | undefined } = {},
): Threads {
  const { processorsKept, chosenMax, memoryPart, emptyBytes, bytesOfStored } = readerLimits;
  const { leastProcessors, leastStoredBytes } = deciderLimits;
  const copies = Math.floor(
    (memoryBytes * memoryPart) / (emptyBytes + storedBytes * bytesOfStored),
  );
  const suits = processors >= leastProcessors && storedBytes >= leastStoredBytes && copies > 0;
  const decider = given.decider ?? suits;
  const free = copies - Number(decider);
  const readers = Math.max(0, Math.min(processors - processorsKept, chosenMax, free));
  return { readers: given.readers ?? readers, decider };
}
