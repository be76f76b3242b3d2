/** How a thread of an agent came to its end: by a fault of its own, silent for too long, or behind its feed. */
export type ThreadEnd = 'failed' | 'hung' | 'slow';

/** The reason for which the main thread has ended another thread. */
export class ThreadFault extends Error {
  readonly end: ThreadEnd;

  constructor(end: Exclude<ThreadEnd, 'failed'>, sentence: string) {
    super(sentence);
    this.end = end;
  }
}

type Counts = Record<ThreadEnd, number>;

/** Counts threads of an agent that have ended and were not meant to. */
export class ThreadEnds {
  readonly counts: Readonly<Record<'reader' | 'decider', Counts>> = {
    reader: { failed: 0, hung: 0, slow: 0 },
    decider: { failed: 0, hung: 0, slow: 0 },
  };

  note(thread: keyof ThreadEnds['counts'], fault: Error | undefined): void {
    this.counts[thread][fault instanceof ThreadFault ? fault.end : 'failed']++;
  }
}
