/**
 * Ends the processes that a task left behind: members of its group or session, and descendants that
 * left both but still have its environment or its output.
 */

import { sweepLimits } from './limits.ts';
import {
  isEnded,
  listPids,
  type ProcessStat,
  readEnvironment,
  readOutputs,
  readStat,
} from './proc.ts';

export interface SweepTarget {
  readonly allocId: string;
  readonly taskName: string;
  /** 0 when the pid is unknown. */
  readonly pid: number;
  readonly startTime: string;
  /** The ids of its output pipes (`HeldOutputs`). */
  readonly outputs?: readonly string[];
  /** Set for a command beside the task: then the task's own processes are not meant. */
  readonly execId?: string;
}

/** Live processes that belong to one of the tasks. One walk over `/proc` serves them all. */
export function findLeftovers(targets: readonly SweepTarget[]): ProcessStat[] {
  const found: ProcessStat[] = [];
  const known = targets.map((target) => (isTaken(target) ? { ...target, pid: 0 } : target));
  for (const pid of listPids()) {
    if (pid === process.pid) continue;
    const stat = readStat(pid);
    if (stat === undefined || isEnded(stat)) continue;
    const candidates = known.filter((target) => startedAfter(stat, target));
    if (candidates.length > 0 && belongs(stat, candidates)) found.push(stat);
  }
  return found;
}

/** Whether another process has its pid by now, and so the group and the session of that number. */
function isTaken({ pid, startTime }: SweepTarget): boolean {
  const leader = pid > 0 && startTime !== '' ? readStat(pid) : undefined;
  return leader !== undefined && leader.startTime !== startTime;
}

const startedAfter = (stat: ProcessStat, target: SweepTarget): boolean =>
  target.startTime === '' || Number(stat.startTime) >= Number(target.startTime);

function belongs(stat: ProcessStat, targets: readonly SweepTarget[]): boolean {
  if (targets.some(({ pid }) => pid > 0 && (stat.group === pid || stat.session === pid))) {
    return true;
  }
  const printsTo = readOutputs(stat.pid);
  if (targets.some(({ outputs = [] }) => outputs.some((id) => printsTo.includes(id)))) return true;
  const environment = new Set(readEnvironment(stat.pid));
  return targets.some(({ allocId, taskName, execId }) =>
    execId === undefined
      ? environment.has(`ROSTER_ALLOC_ID=${allocId}`) &&
        environment.has(`ROSTER_TASK_NAME=${taskName}`)
      : environment.has(`ROSTER_EXEC_ID=${execId}`),
  );
}

/** Kills until nothing is left. Returns how many processes were killed. */
export async function sweep(targets: readonly SweepTarget[]): Promise<number> {
  const killed = new Set<string>();
  for (let round = 0; round < sweepLimits.roundsMax; round++) {
    const leftovers = findLeftovers(targets);
    if (leftovers.length === 0) break;
    for (const { pid, startTime } of leftovers) {
      killed.add(`${pid} ${startTime}`);
      killProcess(pid);
    }
    await new Promise((resolve) => setTimeout(resolve, sweepLimits.roundDelayMs));
  }
  return killed.size;
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended, or may not be killed: the next round shows which.
  }
}

/** Sweeps for all tasks that end at about the same time in one walk over `/proc`. */
export class Sweeper {
  #waiting: { readonly target: SweepTarget; readonly done: () => void }[] = [];
  #running = false;

  /** Resolves when nothing of the task is left. */
  end(target: SweepTarget): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ target, done });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await sweep(batch.map(({ target }) => target));
      for (const { done } of batch) done();
    }
    this.#running = false;
  }
}
