import { jobs } from '../../src/state/tables.ts';
import type { Network } from '../network.ts';
import type { Process } from '../process.ts';
import { rootToken } from '../server.ts';
import type { Checker, Fault } from './checker.ts';

/**
 * A reader that follows the list of jobs by blocking queries, over lost messages and restarts. At rest
 * it has seen the last of all changes, and what it was shown never went back.
 */
export function watchMissesNothing(network: Network, process: Process): Checker {
  let index = 0;
  let seen: readonly { readonly ID: string; readonly ModifyIndex: number }[] = [];
  let fellBack: string | undefined;
  const turn = async (): Promise<number> => {
    const wait = index === 0 ? '' : `?index=${index}&wait=60s`;
    const url = `/v1/jobs${wait}`;
    const call = { method: 'GET', url, token: rootToken, patienceMs: 75_000 };
    const reply = await network.call(process, 'watcher', call);
    if (reply.status !== 200) throw new Error(`${reply.status}`);
    if (reply.index < index) fellBack ??= `the list's index fell from ${index} to ${reply.index}`;
    index = reply.index;
    seen = reply.json;
    return 10;
  };
  const again = () => {
    turn().then(
      (waitMs) => process.world.timers.after(waitMs, again),
      () => process.world.timers.after(2000, again),
    );
  };
  again();
  const compare = (view: Parameters<NonNullable<Checker['rested']>>[0]['view'], fault: Fault) => {
    const told = new Map(seen.map(({ ID, ModifyIndex }) => [ID, ModifyIndex]));
    for (const { ID, ModifyIndex } of view.table(jobs).scan()) {
      const last = told.get(ID);
      told.delete(ID);
      if (last !== ModifyIndex)
        fault(`${ID} is at ${ModifyIndex}, the reader saw ${last ?? 'none'}`);
    }
    for (const ID of told.keys()) fault(`${ID} is gone, the reader still sees it`);
  };
  return {
    guarantee: 'a watch misses nothing',
    rested({ view }, fault) {
      if (fellBack !== undefined) fault(fellBack);
      compare(view, fault);
    },
  };
}
