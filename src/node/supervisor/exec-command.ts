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
  /** Nobody wants its output any more: lets go of what carries it. */
  release(): void;
}

/** What is to be started. */
export interface ExecPlan {
  /** An absolute path, or what is in front of the command of an isolated task. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}
