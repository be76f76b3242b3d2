/**
 * Stops a plain process until it is in its control groups. The signal comes some milliseconds after
 * its program is loaded, more on a busy machine. Processes that it started in this time are
 * searched for and put into the groups too.
 */
import type { Cgroup } from './cgroups/cgroup.ts';
import { descendantsOf } from './inside.ts';
import { holdLimits } from './limits.ts';
import { isEnded, readStat } from './proc.ts';
import { findLeftovers, type SweepTarget } from './sweep.ts';

/** Stops the group of a process that leads one. */
export const holdStill = (pid: number): void => signalGroup(pid, 'SIGSTOP');

/** Puts the process, and all that it has started, into the groups, and lets it go on. */
export async function joinHeld(held: SweepTarget, cgroup: Cgroup): Promise<void> {
  try {
    await cgroup.join([held.pid]);
    if (!hasStarted(held.pid)) return;
    for (let round = 0; round < holdLimits.roundsMax; round++) {
      const outside = outsideOf(held, cgroup);
      if (outside.length === 0) return;
      await cgroup.join(outside);
    }
  } finally {
    signalGroup(held.pid, 'SIGCONT');
  }
}

/** Whether it has started a process, which still runs or was waited for. */
const hasStarted = (pid: number): boolean =>
  descendantsOf(pid).length > 1 || (readStat(pid)?.childFaults ?? 0) > 0;

function outsideOf(held: SweepTarget, cgroup: Cgroup): number[] {
  const inside = new Set(cgroup.processes());
  const known = [...descendantsOf(held.pid), ...findLeftovers([held]).map(({ pid }) => pid)];
  return [...new Set(known)].filter((pid) => !inside.has(pid) && !isEnded(readStat(pid)));
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended; its exit will be reported.
  }
}
