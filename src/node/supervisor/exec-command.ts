import type { Readable, Writable } from 'node:stream';
import type { TerminalSize } from '../../model/exec-session/exec-session.ts';

/** A command that was started beside a task, with pipes or with a terminal. */
export interface ExecCommand {
  /** Leads a group and a session of its own. */
  readonly pid: number;
  readonly sources: readonly {
    readonly stream: 'stdout' | 'stderr';
    readonly source: Readable;
  }[];
  readonly input: Writable;
  /** Resolves when it has ended: its exit code, or 128 and the signal. */
  readonly ended: Promise<number>;
  resize(size: TerminalSize): void;
  /** Releases the pipes or the terminal: nobody reads the output any more. */
  release(): void;
}

export interface ExecPlan {
  /** An absolute path; for an isolated task the program that enters it. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}
