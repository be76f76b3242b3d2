import { durationMs } from '../../base/duration.ts';
import { type Clock, delay, type Timer, type Timers } from '../../base/ports.ts';
import {
  type ConfigFields,
  type ConfigOf,
  configFaults,
  duration,
  durationNs,
  flag,
  text,
  whole,
} from './config.ts';
import {
  type Driver,
  type DriverCommand,
  type DriverExec,
  DriverFailure,
  type DriverHandle,
  type DriverTask,
  type TaskExit,
} from './driver.ts';
import { mockExec } from './mock-exec.ts';

const fields = {
  /** How long the task runs. Default: until it is stopped. */
  run_for: { check: duration },
  exit_code: { check: whole },
  exit_signal: { check: whole },
  start_block_for: { check: duration },
  start_error: { check: text },
  start_error_recoverable: { check: flag },
  /** How long the task takes to end after it was asked to. */
  kill_after: { check: duration },
  signal_error: { check: text },
  /** Text that the task prints when it starts, and again a number of times after that. */
  stdout_string: { check: text },
  stdout_repeat: { check: whole },
  stdout_repeat_duration: { check: duration },
  stderr_string: { check: text },
  stderr_repeat: { check: whole },
  stderr_repeat_duration: { check: duration },
} as const satisfies ConfigFields;
/** How a task of the driver behaves. */
export type MockConfig = ConfigOf<typeof fields>;

export interface MockDriverOptions {
  /** The driver whose place it takes; then settings of tasks are those of that driver, and have no effect. */
  readonly name?: string;
  /** The behaviour of a task; by default that of its settings, or to run until it is stopped. */
  readonly behaviourOf?: ((task: DriverTask) => MockConfig | undefined) | undefined;
  /** Of each task, unless its behaviour says otherwise. */
  readonly defaults?: MockConfig;
  /** Takes what tasks print. */
  readonly onOutput?: ((task: DriverTask, type: OutputType, text: string) => void) | undefined;
}

export type OutputType = 'stdout' | 'stderr';

const ms = (value: string | number | undefined): number => durationMs(durationNs(value) ?? 0);

/**
 * Tasks that are only timers, for tests in virtual time. The driver stands for the machine: the
 * next agent that gets it finds the runs, as with a supervisor.
 */
export class MockDriver implements Driver {
  readonly name: string;
  readonly capabilities = {
    sendSignals: true,
    exec: true,
    fileSystemIsolation: 'none',
    networkModes: ['host', 'group', 'none'],
  } as const;
  readonly defaultKillSignal = 'SIGINT';
  /** Every start, in order. */
  readonly started: DriverTask[] = [];
  /** Every signal, those of `stop` included, as `<task> <signal>`. */
  readonly signals: string[] = [];

  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #runs = new Map<string, MockRun>();
  readonly #options: MockDriverOptions;

  constructor(
    world: { readonly clock: Clock; readonly timers: Timers },
    options: MockDriverOptions = {},
  ) {
    this.name = options.name ?? 'mock';
    this.#options = options;
    this.#clock = world.clock;
    this.#timers = world.timers;
  }

  /** Ids of the runs that have not ended. */
  get running(): readonly string[] {
    return [...this.#runs.values()].filter((run) => !run.ended).map((run) => run.runId);
  }

  async fingerprint() {
    return { detected: true, healthy: true, description: 'Healthy', attributes: {} };
  }

  validate(config: Readonly<Record<string, unknown>>) {
    return this.#hasOwnSettings ? configFaults(config, fields) : [];
  }

  /** Ends the runs of an allocation, or of one of its tasks, as a crash does. Returns how many there were. */
  crash(allocId: string, { task, exitCode = 1 }: Crash = {}): number {
    const hit = [...this.#runs.values()].filter(
      ({ ended, of }) => !ended && of.allocId === allocId && (task ?? of.taskName) === of.taskName,
    );
    for (const run of hit) run.crash(exitCode);
    return hit.length;
  }

  get #hasOwnSettings(): boolean {
    return this.#options.name === undefined;
  }

  async start(task: DriverTask): Promise<DriverHandle> {
    const known = this.#runs.get(task.runId);
    if (known !== undefined) return known;
    const config = this.#behaviourOf(task);
    if (config.start_block_for !== undefined) {
      await delay(this.#timers, ms(config.start_block_for));
    }
    if (config.start_error !== undefined) {
      throw new DriverFailure(config.start_error, config.start_error_recoverable ?? false);
    }
    this.started.push(task);
    const run = new MockRun(task, config, {
      clock: this.#clock,
      timers: this.#timers,
      onSignal: (signal) => this.signals.push(`${task.taskName} ${signal}`),
      onForget: () => this.#runs.delete(task.runId),
      onOutput: (type, text) => this.#options.onOutput?.(task, type, text),
    });
    this.#runs.set(task.runId, run);
    return run;
  }

  #behaviourOf(task: DriverTask): MockConfig {
    const own = this.#hasOwnSettings ? (task.config as MockConfig) : {};
    return { ...this.#options.defaults, ...(this.#options.behaviourOf?.(task) ?? own) };
  }

  async recover(runId: string): Promise<DriverHandle | undefined> {
    return this.#runs.get(runId);
  }

  async exec(runId: string, command: DriverCommand): Promise<DriverExec> {
    const run = this.#runs.get(runId);
    if (run === undefined || run.ended) throw new DriverFailure('the task is not running', false);
    return mockExec(command, run.exited);
  }

  async endUnclaimed(claimed: ReadonlySet<string>): Promise<void> {
    for (const run of this.#runs.values())
      if (!claimed.has(run.runId)) await run.stop('SIGKILL', 0);
  }
}

export interface Crash {
  /** By default every task. */
  readonly task?: string | undefined;
  readonly exitCode?: number | undefined;
}

interface MockHooks {
  readonly clock: Clock;
  readonly timers: Timers;
  onSignal(signal: string): void;
  onForget(): void;
  onOutput(type: OutputType, text: string): void;
}

class MockRun implements DriverHandle {
  readonly runId: string;
  readonly of: Pick<DriverTask, 'allocId' | 'taskName'>;
  readonly exited: Promise<TaskExit>;
  ended = false;

  readonly #config: MockConfig;
  readonly #hooks: MockHooks;
  readonly #end: (exitCode: number, signal: number) => void;
  #timer: Timer | undefined;

  constructor(task: DriverTask, config: MockConfig, hooks: MockHooks) {
    const { clock, timers } = hooks;
    this.runId = task.runId;
    this.of = task;
    this.#config = config;
    this.#hooks = hooks;
    let resolve: (exit: TaskExit) => void = () => {};
    this.exited = new Promise((done) => {
      resolve = done;
    });
    this.#end = (exitCode, signal) => {
      this.ended = true;
      this.#timer?.clear();
      resolve({ exitCode, signal, timeMs: clock.nowMs() });
    };
    const { run_for: runFor, exit_code: exitCode = 0, exit_signal: exitSignal = 0 } = this.#config;
    if (runFor !== undefined) {
      this.#timer = timers.after(ms(runFor), () => this.#end(exitCode, exitSignal));
    }
    for (const type of ['stdout', 'stderr'] as const) {
      this.#print(type, config[`${type}_repeat`] ?? 0);
    }
  }

  /** Prints the text, and `repeats` times more. */
  #print(type: OutputType, repeats: number): void {
    const text = this.#config[`${type}_string`];
    if (text === undefined || this.ended) return;
    this.#hooks.onOutput(type, text);
    const pauseMs = ms(this.#config[`${type}_repeat_duration`]);
    if (repeats > 0) this.#hooks.timers.after(pauseMs, () => this.#print(type, repeats - 1));
  }

  crash(exitCode: number): void {
    this.#end(exitCode, 0);
  }

  async signal(signal: string): Promise<void> {
    if (this.#config.signal_error !== undefined) {
      throw new DriverFailure(this.#config.signal_error, false);
    }
    this.#hooks.onSignal(signal);
  }

  async stop(signal: string, timeoutMs: number): Promise<void> {
    if (this.ended) return;
    this.#hooks.onSignal(signal);
    const neededMs = ms(this.#config.kill_after);
    this.#hooks.timers.after(Math.min(neededMs, timeoutMs), () => {
      if (!this.ended) this.#end(0, neededMs > timeoutMs ? 9 : 0);
    });
  }

  async forget(): Promise<void> {
    this.#hooks.onForget();
  }
}
