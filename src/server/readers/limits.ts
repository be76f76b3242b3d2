import { mebibyte, secondMs } from '../../base/units.ts';

/** Bounds of the readers of an agent. */
export const readerLimits = {
  /** Time between two beats, at which the main thread asks readers and the decider whether they take messages. */
  beatMs: secondMs,
  /** A reader that answers none of so many beats has hung. A collection of a large heap stops it for seconds. */
  silentBeats: 30,
  /** The same before the first answer of any thread: a busy machine takes its time to load a program. */
  firstBeats: 300,
  /** A reader that has ended is started again after this time. */
  restartMs: secondMs,
  /** The time in which a reader ends by itself when the agent does, and any thread that is ended. */
  endMs: 5 * secondMs,
  /** The time for an answer of another thread about itself. */
  answerMs: 5 * secondMs,
  /** Beats of the connections between servers, between two questions for the peers that lag. */
  beatsBetweenLags: 10,
  /** Between two looks at a link that does not take more. */
  lookAgainMs: 5,
  /** Processors that are left to the main thread, the store and the collector of garbage. */
  processorsKept: 2,
  /** The most readers that an agent starts without being told so. */
  chosenMax: 4,
  /** Readers and a decider that the agent chooses take this part of the memory of the machine at most, together. */
  memoryPart: 1 / 4,
  /** The memory of a reader of an empty state. */
  emptyBytes: 64 * mebibyte,
  /** Bytes of a state in memory, for each byte of its store. */
  bytesOfStored: 3,
} as const;
