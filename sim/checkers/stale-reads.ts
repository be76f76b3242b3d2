import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { limits } from '../../src/model/limits.ts';
import { jobs } from '../../src/state/tables.ts';
import type { Network } from '../network.ts';
import { Process } from '../process.ts';
import { rootToken } from '../server.ts';
import type { Checker } from './checker.ts';
import { repeatReads } from './repeat-reads.ts';

const patienceMs = 30_000;
/** A leader tells nothing of a shorter silence of the log, and followers hear of the leader a moment later. */
const slackMs = limits.servers.leaderSilentMs + 1000;
/** Nothing is shown that is older, as servers refuse to. */
const keptMs = 600_000;

interface Acknowledged {
  /** Of the last change of a job up to then. */
  readonly index: number;
  readonly atMs: number;
}

/**
 * A reader lists the jobs at random servers with `stale`. Each list shows all writes that were acknowledged before its
 * age, which the server tells as its last contact.
 */
export function staleReadsTellTheirAge(options: {
  world: SimulatedWorld;
  network: Network;
}): Checker & { answered(index: number): void } {
  const { world, network } = options;
  const reader = new Process(world);
  const { timers } = reader.world;
  const nowMs = () => world.clock.monotonicMs();
  /** Indexes of the commits that changed a job, in order. */
  let changed: number[] = [];
  let acknowledged: Acknowledged[] = [];
  const faults: string[] = [];
  const turn = async () => {
    const sentMs = nowMs();
    const call = { method: 'GET', url: '/v1/jobs?per_page=1&stale', token: rootToken, patienceMs };
    const { status, index, contactMs } = await network.call(reader, 'stale reader', call);
    if (status !== 200) return;
    const newestMs = sentMs - contactMs - slackMs;
    const least = acknowledged.findLast(({ atMs }) => atMs <= newestMs)?.index ?? 0;
    if (index >= least) return;
    faults.push(
      `a list of ${contactMs} ms ago shows index ${index}, but ${least} was acknowledged`,
    );
  };
  repeatReads(timers, turn);
  return {
    guarantee: 'a stale read over etcd tells its age',
    /** A write with this index was acknowledged. */
    answered(written) {
      const index = changed.findLast((one) => one <= written);
      if (index === undefined || index <= (acknowledged.at(-1)?.index ?? 0)) return;
      acknowledged = acknowledged.filter(({ atMs }) => atMs >= nowMs() - keptMs);
      acknowledged.push({ index, atMs: nowMs() });
      changed = changed.filter((one) => one >= index);
    },
    committed(changes, index, _scene, fault) {
      if (changes.some(({ table }) => table === jobs.name)) changed.push(index);
      for (const one of faults.splice(0)) fault(one);
    },
    // It counts as a change of every list.
    restored(_changes, index) {
      changed.push(index);
    },
    rested(_scene, fault) {
      for (const one of faults.splice(0)) fault(one);
    },
  };
}
