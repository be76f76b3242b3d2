import type { Clock, Secrets, Timers } from '../base/ports.ts';
import type { FunctionFiles } from '../language/hcl/functions/ports.ts';
import type { ClientOptions } from '../sdk/client.ts';
import type { AgentOptions } from './agent/options.ts';
import type { Browser } from './login/browser.ts';

/** The world of a command; the real one is in `process-environment.ts`. */
export interface CliEnvironment {
  /** Runs an agent until it has ended; gives the exit code. Signals are its own matter. */
  readonly startAgent: (options: AgentOptions) => Promise<number>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: Input;
  /** Where a person sits: input and output are one terminal. */
  readonly terminal?: Terminal | undefined;
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly secrets: Pick<Secrets, 'uuid'>;
  readonly browser: Browser;
  /** The text of a file. Rejects with the system's error. */
  readonly readFile: (path: string) => Promise<string>;
  /** The same for what need not be text. */
  readonly readBytes: (path: string) => Promise<Uint8Array>;
  /** Writes a file; a new one is refused where there is one already. Rejects with the system's error. */
  readonly writeFile: (path: string, text: string, how: 'new' | 'replace') => Promise<void>;
  /** The files that functions of a job file may read, relative to a directory. */
  readonly functionFiles: (directory: string) => FunctionFiles;
  /** Writes a file that only its user may read. Rejects with the system's error. */
  readonly writeSecretFile: (path: string, text: string) => Promise<void>;
  /** Calls `run` at the next Ctrl-C, which then does not end the process; undone by the result. */
  readonly onInterrupt: (run: () => void) => () => void;
  /** Of this program. */
  readonly version: string;
  /** Instead of HTTP. */
  readonly transport?: ClientOptions['transport'];
}

export interface Output {
  /** Resolves when more may be written; a reader that is gone is no error. */
  write(chunk: string | Uint8Array): Promise<void>;
  readonly isTerminal: boolean;
  /** Width of the terminal; unbounded elsewhere. */
  readonly columns: number;
  /** Aborts when nobody reads any more. */
  readonly closed: AbortSignal;
}

export interface Input {
  readonly isTerminal: boolean;
  readonly read: () => AsyncIterable<Uint8Array>;
  /** Nothing more is read: who waits for it does not keep the program. */
  readonly close?: () => void;
}

export interface Terminal {
  /** Every key as it is, those that interrupt included, and no echo. */
  setRaw(isRaw: boolean): void;
  size(): { readonly height: number; readonly width: number };
  /** Calls `run` whenever the size has changed; undone by the result. */
  onResize(run: () => void): () => void;
}
