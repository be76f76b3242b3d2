/**
 * A plain process that does nothing before it is in its control groups. Nobody can stop it before its
 * program is loaded, and on a busy machine it runs for some milliseconds until the signal is sent: what
 * it started meanwhile is found, wherever that went, and put into the groups as well.
 */
import type { Cgroup } from './cgroups/cgroup.ts';
import { descendantsOf } from './inside.ts';
import { isEnded, readStat } from './proc.ts';
import { findLeftovers, type SweepTarget } from './sweep.ts';

/** What starts others all the time may do so while they are looked for. */
const roundsMax = 20;

/** Stops a process that leads a group, and its group. */
export const holdStill = (pid: number): void => signalGroup(pid, 'SIGSTOP');

/** Puts it, and all that it has started, into the groups and lets it go on. */
export async function joinHeld(held: SweepTarget, cgroup: Cgroup): Promise<void> {
  try {
    await cgroup.join([held.pid]);
    if (!hasStarted(held.pid)) return;
    for (let round = 0; round < roundsMax; round++) {
      const outside = outsideOf(held, cgroup);
      if (outside.length === 0) return;
      await cgroup.join(outside);
    }
  } finally {
    signalGroup(held.pid, 'SIGCONT');
  }
}

/** Whether it has ever started a process: it is there still, or was waited for. */
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
    // It has ended, which its exit tells.
  }
}
