import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { jobs } from '../../src/state/tables.ts';
import type { Network } from '../network.ts';
import { Process } from '../process.ts';
import { rootToken } from '../server.ts';
import type { Checker } from './checker.ts';
import { repeatReads } from './repeat-reads.ts';

const patienceMs = 30_000;

/** A reader lists the jobs at random servers. Each list shows all writes that were durable at its request. */
export function readsSeeDurableWrites(options: {
  world: SimulatedWorld;
  network: Network;
}): Checker {
  const { world, network } = options;
  const reader = new Process(world);
  const { timers } = reader.world;
  /** Index of the last commit that changed a job. */
  let durable = 0;
  const faults: string[] = [];
  const turn = async () => {
    const least = durable;
    const call = { method: 'GET', url: '/v1/jobs?per_page=1', token: rootToken, patienceMs };
    const { status, index } = await network.call(reader, 'reader', call);
    if (status !== 200 || index >= least) return;
    faults.push(`a list shows index ${index}, but ${least} was durable at the request`);
  };
  repeatReads(timers, turn);
  return {
    guarantee: 'a read sees every durable write',
    committed(changes, index, _scene, fault) {
      if (changes.some(({ table }) => table === jobs.name)) durable = index;
      for (const one of faults.splice(0)) fault(one);
    },
    // It counts as a change of every list.
    restored(_changes, index) {
      durable = index;
    },
    rested(_scene, fault) {
      for (const one of faults.splice(0)) fault(one);
    },
  };
}
