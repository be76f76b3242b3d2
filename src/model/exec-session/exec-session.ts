/** A command that runs elsewhere, with its input and output. Every hop has the same interface. */
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
  /** The output in order, for a single reader at its own pace: a slow reader holds the command up. */
  readonly output: AsyncIterable<ExecOutput>;
  /** Resolves once the output was read to its end; rejects if the session breaks off. */
  readonly exited: Promise<{ readonly exitCode: number }>;
  /** Resolves when the session takes more. Data after the end is dropped. */
  write(data: Uint8Array): Promise<void>;
  closeInput(): void;
  /** Has an effect only with a terminal. */
  resize(size: TerminalSize): void;
  /** Ends the command if it has not ended. */
  close(): void;
}
