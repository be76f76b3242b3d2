/** A command that runs somewhere else, with its input and its output. The same at every hop. */
export interface TerminalSize {
  readonly height: number;
  readonly width: number;
}

export interface ExecOutput {
  readonly stream: 'stdout' | 'stderr';
  readonly data: Uint8Array;
}

/** A started command. It need not be closed once its output was read to the end. */
export interface ExecSession {
  /** Its output in order, at the reader's pace: a slow reader holds it up. One reader. */
  readonly output: AsyncIterable<ExecOutput>;
  /** Resolves once the output was read to its end; rejects when the session breaks off. */
  readonly exited: Promise<{ readonly exitCode: number }>;
  /** Resolves when it takes more. Data after its end is dropped. */
  write(data: Uint8Array): Promise<void>;
  closeInput(): void;
  /** Only with a terminal. */
  resize(size: TerminalSize): void;
  /** Ends it, if it has not ended. */
  close(): void;
}
