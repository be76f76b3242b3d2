/**
 * A child in a sandbox of `bwrap`, and the messages between both over descriptors that are closed
 * before the command begins:
 *
 *  - the command's exit code, which arrives only if the command was run;
 *  - its options with the task's variables: so no process list shows them, and no program that runs
 *    with this process's rights gets a variable of the task;
 *  - the permission to go on: one byte once its users are mapped, and one once its processes are in
 *    their control groups. The second is read inside, over the descriptor of the first, as nobody
 *    would close another there;
 *  - its system call filter.
 */
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { findInside, type Inside } from './inside.ts';
import { sandboxLimits } from './limits.ts';
import {
  firstSignal,
  type SandboxSettings,
  type StartRequest,
  SupervisorRefusal,
} from './protocol.ts';

const lastSignal = 31;

type Channel = 'status' | 'options' | 'goOn' | 'filter' | 'about';

/** Only descriptors that `bwrap` is told of, as it leaves all others to the command. */
const channelsOf = ({ systemCallFilter, hasOwnUsers }: SandboxSettings): readonly Channel[] => [
  'status',
  'options',
  'goOn',
  ...(systemCallFilter === undefined ? [] : (['filter'] as const)),
  // `bwrap` demands it together with the other one; its content is in the status too.
  ...(hasOwnUsers === true ? (['about'] as const) : []),
];

const firstChannel = 3;

/** The program to spawn instead of the command. */
export function sandboxed(sandbox: SandboxSettings, { command, args, env }: StartRequest) {
  const channels = channelsOf(sandbox);
  const at = (channel: Channel): string => String(firstChannel + channels.indexOf(channel));
  const own = [
    '--args',
    at('options'),
    '--json-status-fd',
    at('status'),
    '--block-fd',
    at('goOn'),
    ...(sandbox.systemCallFilter === undefined ? [] : ['--seccomp', at('filter')]),
    ...(sandbox.hasOwnUsers === true
      ? ['--unshare-user', '--userns-block-fd', at('goOn'), '--info-fd', at('about')]
      : []),
  ];
  const variables = Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]);
  return {
    command: sandbox.program,
    args: [...own, '--', command, ...args],
    options: [...sandbox.options, '--clearenv', ...variables],
    stdio: channels.map(() => 'pipe') satisfies StdioOptions,
  };
}

export class Sandbox {
  readonly #child: ChildProcess;
  readonly #hasOwnUsers: boolean;
  readonly #goOn: Writable;
  /** The first process inside; `undefined` when the sandbox ended before it had one. */
  readonly #first: Promise<number | undefined>;
  readonly #statusEnded: Promise<void>;
  #status = '';
  #inside: Inside | undefined;

  constructor(child: ChildProcess, settings: SandboxSettings, options: readonly string[]) {
    this.#child = child;
    this.#hasOwnUsers = settings.hasOwnUsers === true;
    const channels = channelsOf(settings);
    const streams: readonly unknown[] = child.stdio;
    const streamOf = (channel: Channel) =>
      streams[firstChannel + channels.indexOf(channel)] as Readable & Writable;
    const status = streamOf('status');
    this.#goOn = streamOf('goOn');
    // The other end may be gone already; its exit will be reported.
    for (const channel of channels) streamOf(channel).on('error', () => {});
    streamOf('options').end(options.map((option) => `${option}\0`).join(''));
    const { systemCallFilter } = settings;
    if (systemCallFilter !== undefined) streamOf('filter').end(systemCallFilter, 'base64');
    if (this.#hasOwnUsers) streamOf('about').resume();
    this.#statusEnded = new Promise((resolve) => status.once('close', resolve));
    this.#first = new Promise((resolve) => {
      status.on('data', (chunk: Buffer) => {
        this.#status += chunk.toString();
        const first = this.#statusNumber('child-pid');
        if (first !== undefined) resolve(first);
      });
      status.once('close', () => resolve(undefined));
    });
  }

  /** The sandbox's processes before the command begins. Rejects when the sandbox fails. */
  async waiting(): Promise<readonly number[]> {
    const first = await this.#first;
    if (first === undefined) throw sandboxFailed();
    if (this.#hasOwnUsers) {
      sameUsers(first);
      this.#goOn.write('.');
    }
    return [this.#child.pid!, first];
  }

  /** Lets the command begin. Resolves when it has. Rejects when it cannot. */
  async begin(): Promise<void> {
    this.#goOn.end('.');
    const endMs = performance.now() + sandboxLimits.startTimeoutMs;
    while (this.inside === undefined) {
      if (performance.now() > endMs) throw sandboxFailed();
      if (this.#hasEnded) {
        await this.#statusEnded;
        const ran =
          this.#statusNumber('exit-code') !== undefined || this.#child.signalCode !== null;
        if (ran) return;
        throw sandboxFailed();
      }
      await new Promise((resolve) => setTimeout(resolve, sandboxLimits.pollMs));
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

  /** A number from the status documents, which arrive one by one. */
  #statusNumber(name: 'child-pid' | 'exit-code'): number | undefined {
    const [, digits] = new RegExp(`"${name}": *(\\d+)\\b`).exec(this.#status) ?? [];
    return digits === undefined ? undefined : Number(digits);
  }

  /** The command's exit, from the exit of the monitor. */
  async exit(exitCode: number, signal: number) {
    await this.#statusEnded;
    if (signal !== 0) return { exitCode, signal };
    // As with shells: 128 plus the signal, which may have come before the command ran.
    const bySignal = exitCode > firstSignal && exitCode <= firstSignal + lastSignal;
    if (bySignal) return { exitCode, signal: exitCode - firstSignal };
    const wasRun = this.#statusNumber('exit-code') !== undefined;
    return { exitCode, signal, ...(!wasRun && { notRun: notRunSentence }) };
  }
}

/** Maps the users of this process to the same numbers in the namespace of another process. */
function sameUsers(pid: number): void {
  for (const kind of ['uid_map', 'gid_map']) {
    const ranges = readFileSync(`/proc/self/${kind}`, 'utf8').trim().split('\n');
    const same = ranges.map((range) => {
      const [inside, , count] = range.trim().split(/\s+/);
      return `${inside} ${inside} ${count}\n`;
    });
    writeFileSync(`/proc/${pid}/${kind}`, same.join(''));
  }
}

const notRunSentence = 'the command could not be run in its sandbox; its error output says why';

export const sandboxFailed = () =>
  new SupervisorRefusal(
    'sandbox-failed',
    'the sandbox could not be made; the error output of the task says why',
  );
