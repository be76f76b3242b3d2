import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { nodes } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import { isLive } from '../account.ts';
import type { Checker } from './checker.ts';

/** Longer than the server is ever away, frozen or short of processor. */
const patienceMs = 60_000;
/** So many commits show that it works meanwhile. */
const commitsAwaited = 20;

/**
 * Once the time of a drain is up, all that runs on the node is told to go; at rest no drain goes on
 * beyond its deadline, and nothing is left that was told to go.
 */
export const drainsEnd = (): Checker => {
  /** What stays beyond a deadline: since when it is known to, and for how many commits. */
  const late = new Map<string, { readonly sinceMs: number; commits: number }>();
  return {
    guarantee: 'a drain ends by its deadline',
    committed(_changes, _index, { account, nowMs, elapsedMs }, fault) {
      for (const { ID, Name, DrainStrategy } of account.rows(nodes).values()) {
        const deadline = DrainStrategy?.ForceDeadline ?? null;
        if (DrainStrategy === null || deadline === null) continue;
        if (Date.parse(deadline) >= nowMs) continue;
        for (const one of account.occupantsOf(ID)) {
          if (!isToLeave(one, DrainStrategy.IgnoreSystemJobs, account)) continue;
          const known = late.get(one.ID) ?? { sinceMs: elapsedMs, commits: 0 };
          late.set(one.ID, known);
          known.commits++;
          const isLong = elapsedMs - known.sinceMs > patienceMs;
          if (!isLong || known.commits < commitsAwaited) continue;
          late.delete(one.ID);
          fault(`${one.Name} stays on ${Name}, whose drain was over by ${deadline}`);
        }
      }
    },
    rested({ account, nowMs }, fault) {
      for (const { ID, Name, DrainStrategy } of account.rows(nodes).values()) {
        const deadline = DrainStrategy?.ForceDeadline ?? null;
        if (deadline !== null && Date.parse(deadline) < nowMs) fault(`${Name} is still drained`);
        const left = [...account.occupantsOf(ID)].filter((one) => isToGo(one, account));
        for (const one of left) fault(`${one.Name} was told to leave ${Name} and is there`);
      }
    },
  };
};

/** It runs and nobody has told it to go. */
function isToLeave(one: Allocation, staysEverywhere: boolean, account: Account): boolean {
  if (!isLive(one) || one.DesiredTransition.Migrate === true) return false;
  const type = account.job(one.Namespace, one.JobID)?.Type;
  return type !== undefined && !(staysEverywhere && type.startsWith('sys'));
}

/** A drain without a deadline waits as long as there is nowhere to go. */
const isToGo = ({ NodeID, DesiredTransition }: Allocation, account: Account): boolean =>
  DesiredTransition.Migrate === true && account.node(NodeID)?.Drain !== true;
