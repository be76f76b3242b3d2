import type { Task } from '../../model/task/task.ts';
import type { DriverCommand, DriverExec } from '../drivers/driver.ts';
import type { TaskRunner } from '../task-runner/task-runner.ts';
import { endingRounds } from './stages.ts';

/** The part of an allocation's runner that commands need. */
export interface Commanded {
  readonly id: string;
  readonly isOver: () => boolean;
  readonly tasks: readonly Task[];
  readonly runners: ReadonlyMap<string, TaskRunner>;
  /** Runs a function during which no task starts; afterwards the first stage begins anew. */
  readonly holding: (run: () => Promise<void>) => void;
}

/** Why a command was refused. The codes are those of the error catalogue. */
export class CommandRefusal extends Error {
  override readonly name = 'CommandRefusal';
  readonly code: 'task-not-found' | 'not-running';

  constructor(code: CommandRefusal['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export interface RestartWish {
  /** Empty: every running task. */
  readonly task: string;
  /** Every task from the first stage on, also those that have completed. */
  readonly all: boolean;
}

const reason = 'User requested restart';

/**
 * Restarts tasks, which does not count as a failure. Resolves when the restart has begun. Rejects
 * with {@link CommandRefusal} or `DriverFailure`.
 * Source: docs/behaviour/client.md#commands-on-tasks.
 */
export async function restartTasks(commanded: Commanded, { task, all }: RestartWish) {
  const running = runningTasks(commanded, task);
  if (!all) {
    await Promise.all(running.map((runner) => runner.restart(reason)));
    return;
  }
  const { tasks, runners, holding, isOver } = commanded;
  holding(async () => {
    for (const round of endingRounds(tasks)) {
      // A dead task that came back would never be ended again.
      if (isOver()) return;
      const resets = await Promise.allSettled(
        round.map((name) => runners.get(name)?.reset(reason)),
      );
      for (const reset of resets) if (reset.status === 'rejected') throw reset.reason;
    }
  });
}

export interface SignalWish {
  /** Empty: every task that runs. */
  readonly task: string;
  readonly signal: string;
}

/** Sends a signal. Rejects as {@link restartTasks} does. */
export async function signalTasks(commanded: Commanded, { task, signal }: SignalWish) {
  const running = runningTasks(commanded, task);
  await Promise.all(running.map((runner) => runner.signal(signal, 'User requested signal')));
}

export interface ExecWish extends DriverCommand {
  readonly task: string;
}

/**
 * Runs a command beside a task. Rejects as {@link restartTasks} does.
 * Source: docs/guides/actions-and-exec.md#without-the-command-line.
 */
export async function execInTask(commanded: Commanded, { task, ...command }: ExecWish) {
  const [runner] = runningTasks(commanded, task);
  return runner!.exec(command) satisfies Promise<DriverExec>;
}

/** The named task if it runs, or every running task; at least one. */
function runningTasks({ id, isOver, runners }: Commanded, name: string): readonly TaskRunner[] {
  if (name !== '' && !runners.has(name)) {
    const names = [...runners.keys()].join(', ');
    const message = `The allocation ${id} has no task "${name}"; its tasks are: ${names}.`;
    throw new CommandRefusal('task-not-found', message);
  }
  const found = [...runners].filter(
    ([task, { state }]) => state.State === 'running' && (name === '' || task === name),
  );
  if (isOver() || found.length === 0) {
    const what = name === '' ? `allocation "${id}"` : `task "${name}"`;
    throw new CommandRefusal('not-running', `The ${what} is not running.`);
  }
  return found.map(([, runner]) => runner);
}
