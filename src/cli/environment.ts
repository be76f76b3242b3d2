import type { Clock, Random, Secrets, Timers } from '../base/ports.ts';
import type { FunctionFiles } from '../language/hcl/functions/ports.ts';
import type { ClientOptions } from '../sdk/client.ts';
import type { ConfiguredAgent } from './agent/configured-agent.ts';
import type { AgentOptions } from './agent/options.ts';
import type { Browser } from './login/browser.ts';
import type { EngineCommands } from './operator/engines.ts';

/** The outside world of a command; `process-environment.ts` has the real one. */
export interface CliEnvironment {
  /** Runs an agent until it has ended; returns the exit code. The agent handles signals itself. */
  readonly startAgent: (options: AgentOptions, configured: ConfiguredAgent) => Promise<number>;
  readonly engines: EngineCommands;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: Input;
  /** The terminal, if input and output are the same terminal. */
  readonly terminal?: Terminal | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly secrets: Pick<Secrets, 'uuid'>;
  readonly random: Pick<Random, 'below'>;
  readonly browser: Browser;
  /** Shows a text by a command of the shell, until the user leaves it. Returns whether it could be started. */
  readonly page: (command: string, text: string) => Promise<boolean>;
  /** Reads a text file. Rejects with the system's error. */
  readonly readFile: (path: string) => Promise<string>;
  /** The names in a directory; `undefined`: the path is none that can be read. */
  readonly listDirectory: (path: string) => Promise<readonly string[] | undefined>;
  /** Reads a file that need not be text. */
  readonly readBytes: (path: string) => Promise<Uint8Array>;
  /** Reads a file piece by piece. The first piece rejects with the system's error. */
  readonly readPieces: (path: string) => AsyncIterable<Uint8Array>;
  /** Begins a file that only its user may read. Rejects with the system's error. */
  readonly beginFile: (path: string) => Promise<FileInProgress>;
  /** Writes a file. `new` refuses to overwrite an existing file. Rejects with the system's error. */
  readonly writeFile: (path: string, text: string, how: 'new' | 'replace') => Promise<void>;
  /** The files that functions of a job file may read, relative to a directory. */
  readonly functionFiles: (directory: string) => FunctionFiles;
  /** Writes a file that only its user may read. Rejects with the system's error. */
  readonly writeSecretFile: (path: string, text: string) => Promise<void>;
  /** Calls `run` at the next Ctrl-C, which then does not end the process. The result undoes that. */
  readonly onInterrupt: (run: () => void) => () => void;
  readonly build: ProgramBuild;
  /** A transport that is used instead of HTTP. */
  readonly transport?: ClientOptions['transport'];
}

/** The program that runs. */
export interface ProgramBuild {
  readonly version: string;
  /** `undefined` in a checkout. */
  readonly commit?: string;
  readonly commitDate?: string;
  /** The version of Node. */
  readonly node: string;
  /** System and processor, such as `linux-x64`. */
  readonly platform: string;
}

/** A file that stands under another name until it is complete. */
export interface FileInProgress {
  write(bytes: Uint8Array): Promise<void>;
  /** Makes it durable under its own name, in place of a file that is there. */
  finish(): Promise<void>;
  /** Removes it. */
  discard(): Promise<void>;
}

export interface Output {
  /** Resolves when more may be written. A closed output is no error. */
  write(chunk: string | Uint8Array): Promise<void>;
  readonly isTerminal: boolean;
  /** Width of the terminal; unlimited without a terminal. */
  readonly columns: number;
  /** Aborts when the output is closed. */
  readonly closed: AbortSignal;
}

export interface Input {
  readonly isTerminal: boolean;
  readonly read: () => AsyncIterable<Uint8Array>;
  /** Ends reading, so that a pending read does not keep the program alive. */
  readonly close?: () => void;
}

export interface Terminal {
  /** Passes every key on unchanged, including those that interrupt, without an echo. */
  setRaw(isRaw: boolean): void;
  size(): { readonly height: number; readonly width: number };
  /** Calls `run` whenever the size has changed. The result undoes that. */
  onResize(run: () => void): () => void;
}
