import type { Task } from '../../model/task/task.ts';
import type { DriverCommand, DriverExec } from '../drivers/driver.ts';
import type { TaskRunner } from '../task-runner/task-runner.ts';
import { endingRounds } from './stages.ts';

/** What of an allocation's runner is needed to act on its tasks. */
export interface Commanded {
  readonly id: string;
  /** It ends, or has ended. */
  readonly isOver: () => boolean;
  readonly tasks: readonly Task[];
  readonly runners: ReadonlyMap<string, TaskRunner>;
  /** Runs something while no task starts; the first stage begins anew afterwards. */
  readonly holding: (run: () => Promise<void>) => void;
}

/** Why something was not done. The codes are those of the catalogue of refusals. */
export class CommandRefusal extends Error {
  override readonly name = 'CommandRefusal';
  readonly code: 'task-not-found' | 'not-running';

  constructor(code: CommandRefusal['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export interface RestartWish {
  /** Empty: every task that runs. */
  readonly task: string;
  /** All of them from the first stage on, those included that have done their work. */
  readonly all: boolean;
}

const reason = 'User requested restart';

/**
 * Restarts tasks; that does not count as a failure of theirs. Resolves when it has begun.
 * Rejects with {@link CommandRefusal} or `DriverFailure`.
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
      // Nobody would end again what is dead and comes back.
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

/** The one that is named, or all, as far as they run; there is at least one. */
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
