import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { allocations } from '../../src/state/tables.ts';
import type { Checker } from './checker.ts';

const ends: readonly string[] = ['complete', 'failed', 'lost'];

/** No later report or decision gives another status to an allocation whose end is known. */
export const endedStaysEnded = (): Checker => ({
  guarantee: 'an allocation that has ended keeps its status',
  committed(changes, _index, _scene, fault) {
    for (const { table, before, after } of changes) {
      if (table !== allocations.name || before === undefined || after === undefined) continue;
      const [was, is] = [before as Allocation, after as Allocation];
      if (ends.includes(was.ClientStatus) && is.ClientStatus !== was.ClientStatus) {
        fault(`${is.Name} was ${was.ClientStatus} and is ${is.ClientStatus}`);
      }
    }
  },
});
