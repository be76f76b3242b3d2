/** An agent that the test starts, stops, freezes and kills, as often as it likes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream, writeFileSync } from 'node:fs';

/** The rate of a clock for the life of a process, or a file with its offset in seconds. */
export type Clock = { readonly rate: number } | { readonly file: string };

export interface ChaosAgentOptions {
  readonly name: string;
  readonly command: string;
  readonly words: readonly string[];
  /** Takes all that the agent prints. */
  readonly logFile: string;
  /** Called when the agent has ended by itself, or says that its log has diverged. */
  readonly violation: (sentence: string) => void;
  /** The clock of the next process; `undefined`: the clock of the machine. */
  readonly clock?: () => Clock | undefined;
  /** The library that gives a process another clock. */
  readonly clockLibrary?: string | undefined;
}

const restartMs = 1000;
/** Far longer than the end of an agent takes on a slow machine. */
const endMs = 180_000;
const tailBytes = 2000;
/** No etcd is set back here, so no log may diverge. Such servers refuse all writes, which no history shows as wrong. */
const hasDiverged = /the log has diverged/;

export class ChaosAgent {
  readonly #options: ChaosAgentOptions;
  readonly #log: WriteStream;
  #process: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #isWanted = false;
  #tail = '';
  isReady = false;
  isPaused = false;
  clock: Clock | undefined;

  constructor(options: ChaosAgentOptions) {
    this.#options = options;
    this.#log = createWriteStream(options.logFile, { flags: 'a' });
  }

  start(): void {
    const { command, words } = this.#options;
    this.#isWanted = true;
    this.isReady = false;
    this.#tail = '';
    const { PATH = '', HOME = '/', TMPDIR = '/tmp' } = process.env;
    const child = spawn(command, words, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, HOME, TMPDIR, ...this.#clockVariables() },
    });
    this.#process = child;
    const hear = (text: Buffer) => {
      this.#log.write(text);
      this.#tail = (this.#tail + text).slice(-tailBytes);
      if (/(?:ready|answers) (?:at|as)/.test(this.#tail)) this.isReady = true;
      if (hasDiverged.test(this.#tail)) {
        this.#options.violation(`${this.#options.name} says that the log has diverged`);
      }
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    this.#ended = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        this.#noteEnd(`${signal ?? code}`);
        resolve();
      });
    });
  }

  /** Ends it as a lack of memory does. */
  async kill(): Promise<void> {
    this.#isWanted = false;
    this.isPaused = false;
    this.#process?.kill('SIGKILL');
    await this.#ended;
  }

  /** Ends it as its operator does. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    this.#process?.kill('SIGTERM');
    const tooLong = setTimeout(() => {
      this.#options.violation(`${this.#options.name} does not end by a signal`);
      this.#process?.kill('SIGKILL');
    }, endMs);
    await this.#ended;
    clearTimeout(tooLong);
  }

  pause(): void {
    this.isPaused = true;
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.isPaused = false;
    this.#process?.kill('SIGCONT');
  }

  /** Sets the clock of the process that runs, unless that has a rate of its own. */
  stepClock(seconds: number): void {
    if (this.clock !== undefined && 'file' in this.clock) setClock(this.clock.file, seconds);
  }

  close(): void {
    this.#log.end();
  }

  #noteEnd(reason: string): void {
    const { name, violation } = this.#options;
    this.isReady = false;
    this.#process = undefined;
    if (!this.#isWanted) return;
    violation(`${name} has ended by itself (${reason}): ${this.#tail}`);
    setTimeout(() => {
      if (this.#isWanted && this.#process === undefined) this.start();
    }, restartMs);
  }

  #clockVariables(): Readonly<Record<string, string>> {
    const { clockLibrary } = this.#options;
    this.clock = clockLibrary === undefined ? undefined : this.#options.clock?.();
    if (clockLibrary === undefined || this.clock === undefined) return {};
    const library = { LD_PRELOAD: clockLibrary, NO_FAKE_STAT: '1', FAKETIME_DISABLE_SHM: '1' };
    if ('rate' in this.clock) return { ...library, FAKETIME: `+0 x${this.clock.rate}` };
    setClock(this.clock.file, 0);
    return {
      ...library,
      FAKETIME_TIMESTAMP_FILE: this.clock.file,
      FAKETIME_CACHE_DURATION: '1',
      // No machine steps the clock that only goes forward.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }
}

const setClock = (file: string, seconds: number): void =>
  writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
