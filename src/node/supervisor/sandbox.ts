/**
 * A child in a sandbox that `bwrap` makes, and what goes between it and this process:
 *
 *  - its options, with the task's variables, over descriptor 4: nobody sees them among the arguments,
 *    and no program that runs with this process's rights gets a variable of the task;
 *  - that the command may begin, over descriptor 5, once its processes are in their control groups;
 *  - the command's own exit code, over descriptor 3, which is only told when the command was run.
 */
import type { ChildProcess, StdioOptions } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { findInside, type Inside } from './inside.ts';
import { type SandboxSettings, type StartRequest, SupervisorRefusal } from './protocol.ts';

const descriptors = { status: 3, options: 4, begin: 5 } as const;
const pollMs = 2;
/** Making a sandbox takes milliseconds; one that takes longer is on a machine that stands still. */
const startTimeoutMs = 10_000;
const firstSignal = 128;
const lastSignal = 31;

/** What to spawn instead of the command. */
export function sandboxed(sandbox: SandboxSettings, { command, args, env }: StartRequest) {
  const { status, options, begin } = descriptors;
  const own = ['--args', options, '--json-status-fd', status, '--block-fd', begin].map(String);
  const variables = Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]);
  return {
    command: sandbox.program,
    args: [...own, '--', command, ...args],
    options: [...sandbox.options, '--clearenv', ...variables],
    stdio: ['pipe', 'pipe', 'pipe'] satisfies StdioOptions,
  };
}

export class Sandbox {
  readonly #child: ChildProcess;
  readonly #begin: Writable;
  /** The first process inside; `undefined` when the sandbox ended before it had one. */
  readonly #first: Promise<number | undefined>;
  readonly #statusEnded: Promise<void>;
  #status = '';
  #inside: Inside | undefined;

  constructor(child: ChildProcess, options: readonly string[]) {
    this.#child = child;
    const streams: readonly unknown[] = child.stdio;
    const status = streams[descriptors.status] as Readable;
    const given = streams[descriptors.options] as Writable;
    this.#begin = streams[descriptors.begin] as Writable;
    // Whoever is at the other end may be gone already, which its exit tells.
    for (const stream of [status, given, this.#begin]) stream.on('error', () => {});
    given.end(options.map((option) => `${option}\0`).join(''));
    this.#statusEnded = new Promise((resolve) => status.once('close', resolve));
    this.#first = new Promise((resolve) => {
      status.on('data', (chunk: Buffer) => {
        this.#status += chunk.toString();
        const first = this.#told('child-pid');
        if (first !== undefined) resolve(first);
      });
      status.once('close', () => resolve(undefined));
    });
  }

  /** The processes that there are before the command begins. Rejects when the sandbox fails. */
  async waiting(): Promise<readonly number[]> {
    const first = await this.#first;
    if (first === undefined) throw sandboxFailed();
    return [this.#child.pid!, first];
  }

  /** Lets the command begin. Resolves when it has. Rejects when it cannot. */
  async begin(): Promise<void> {
    this.#begin.end('.');
    const endMs = performance.now() + startTimeoutMs;
    while (this.inside === undefined) {
      if (performance.now() > endMs) throw sandboxFailed();
      if (this.#hasEnded) {
        await this.#statusEnded;
        const ran = this.#told('exit-code') !== undefined || this.#child.signalCode !== null;
        if (ran) return;
        throw sandboxFailed();
      }
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  /** The processes inside, while the command runs. */
  get inside(): Inside | undefined {
    this.#inside ??= findInside(this.#child.pid!);
    return this.#inside;
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** A number of one of the status documents, which come as the sandbox gets on. */
  #told(name: 'child-pid' | 'exit-code'): number | undefined {
    const [, digits] = new RegExp(`"${name}": *(\\d+)\\b`).exec(this.#status) ?? [];
    return digits === undefined ? undefined : Number(digits);
  }

  /** What the end of the monitor says of the command. */
  async exit(exitCode: number, signal: number) {
    await this.#statusEnded;
    if (signal !== 0) return { exitCode, signal };
    // As a shell tells it: 128 and the signal's number. It may have come before the command was run.
    const bySignal = exitCode > firstSignal && exitCode <= firstSignal + lastSignal;
    if (bySignal) return { exitCode, signal: exitCode - firstSignal };
    const wasRun = this.#told('exit-code') !== undefined;
    return { exitCode, signal, ...(!wasRun && { notRun: notRunSentence }) };
  }
}

const notRunSentence = 'the command could not be run in its sandbox; its error output says why';

export const sandboxFailed = () =>
  new SupervisorRefusal(
    'sandbox-failed',
    'the sandbox could not be made; the error output of the task says why',
  );
