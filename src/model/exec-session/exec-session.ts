/** A command that runs somewhere else, with its input and its output. The same at every hop. */
export interface TerminalSize {
  readonly height: number;
  readonly width: number;
}

export interface ExecOutput {
  readonly stream: 'stdout' | 'stderr';
  readonly data: Uint8Array;
}

/** What was started. Nobody has to close one whose output was read to its end. */
export interface ExecSession {
  /** What it prints, in order, at the reader's pace: who does not read holds it up. One reader. */
  readonly output: AsyncIterable<ExecOutput>;
  /** Resolves once the output was read to its end; rejects when the session breaks off. */
  readonly exited: Promise<{ readonly exitCode: number }>;
  /** Resolves when it may be given more. What comes after its end is dropped. */
  write(data: Uint8Array): Promise<void>;
  closeInput(): void;
  /** Only with a terminal. */
  resize(size: TerminalSize): void;
  /** Ends it, if it has not ended. */
  close(): void;
}
