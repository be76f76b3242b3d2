import { setImmediate } from 'node:timers/promises';
import { limits } from '../../model/limits.ts';
import { processUsage } from '../statistics/process-usage.ts';
import { listPids, readStat } from '../supervisor/proc.ts';
import type { DriverUsage } from './driver.ts';

type Sessions = ReadonlyMap<number, readonly number[]>;

/** What the processes of a session use: those of a task that is not in a cgroup of its own. */
export class SessionUsage {
  #walking: Promise<Sessions> | undefined;

  /** `undefined` when nothing of the session of this process runs any more. */
  async of(leader: number): Promise<DriverUsage | undefined> {
    const pids = (await this.#sessions()).get(leader) ?? [];
    const found = await Promise.all(pids.map((pid) => processUsage(pid)));
    const all = found.filter((usage) => usage !== undefined);
    if (all.length === 0) return undefined;
    const sum = (of: (usage: (typeof all)[number]) => number) =>
      all.reduce((total, usage) => total + of(usage), 0);
    return {
      cpuUserMs: sum(({ cpuUserMs }) => cpuUserMs),
      cpuSystemMs: sum(({ cpuSystemMs }) => cpuSystemMs),
      memoryRssBytes: sum(({ rssBytes }) => rssBytes),
      pids,
    };
  }

  /** Who asks while a walk over `/proc` is under way gets what it finds. */
  #sessions(): Promise<Sessions> {
    this.#walking ??= walk().finally(() => {
      this.#walking = undefined;
    });
    return this.#walking;
  }
}

async function walk(): Promise<Sessions> {
  const sessions = new Map<number, number[]>();
  for (const [at, pid] of listPids().entries()) {
    // A machine may have thousands of processes.
    if (at % limits.statistics.processesPerStep === 0) await setImmediate();
    const session = readStat(pid)?.session;
    if (session === undefined) continue;
    const known = sessions.get(session);
    if (known === undefined) sessions.set(session, [pid]);
    else known.push(pid);
  }
  return sessions;
}
