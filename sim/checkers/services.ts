import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { isSame } from '../../src/model/same.ts';
import { allocations, serviceRegistrations } from '../../src/state/tables.ts';
import { isLive } from '../account.ts';
import { servicesOf } from '../services.ts';
import type { Checker } from './checker.ts';
import { isNews } from './waiting.ts';

/**
 * A registered service always belongs to an allocation that runs and is wanted. At rest, the registrations
 * are exactly the services of the running tasks, with the status of their checks.
 */
export const servicesMatchAllocations = (): Checker => ({
  guarantee: 'registered services match the running allocations',
  committed(changes, _index, { account }, fault) {
    const over = new Set<string>();
    for (const { table, after } of changes) {
      if (table !== allocations.name) continue;
      const allocation = after as Allocation | undefined;
      if (allocation !== undefined && !isLive(allocation)) over.add(allocation.ID);
    }
    const told = changes.some(({ table }) => table === serviceRegistrations.name);
    if (over.size === 0 && !told) return;
    for (const { ID, AllocID, Namespace } of account.rows(serviceRegistrations).values()) {
      const allocation = account.allocation(AllocID, Namespace);
      if (allocation !== undefined && isLive(allocation)) continue;
      fault(`${ID} is registered, but its allocation has ended, is to end, or does not exist`);
    }
  },
  rested({ account, machines, elapsedMs }, fault) {
    const found = new Map(
      [...account.rows(serviceRegistrations).values()].map((row) => [row.ID, row]),
    );
    for (const { runs, isUp } of machines.values()) {
      if (!isUp) continue;
      for (const run of runs.values()) {
        if (isNews(run, elapsedMs)) {
          for (const { ID, AllocID } of found.values()) if (AllocID === run.id) found.delete(ID);
          continue;
        }
        for (const told of servicesOf(run)) {
          const row = found.get(told.ID);
          found.delete(told.ID);
          if (row === undefined) fault(`${told.ID} runs, but is not registered`);
          else if (!isSame(told, part(row, told)))
            fault(`${told.ID} differs from its node's report`);
        }
      }
    }
    for (const id of found.keys()) fault(`${id} is registered, but its task does not run`);
  },
});

/** The fields of the row that the node reports. */
const part = <T extends object>(row: object, told: T): object =>
  Object.fromEntries(Object.keys(told).map((name) => [name, row[name as keyof typeof row]]));
