import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { nodes } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import type { Checker } from './checker.ts';

/** At rest no drain goes on beyond its deadline, and nothing is left that was told to go. */
export const drainsEnd = (): Checker => ({
  guarantee: 'a drain ends by its deadline',
  rested({ account, nowMs }, fault) {
    for (const { ID, Name, DrainStrategy } of account.rows(nodes).values()) {
      const deadline = DrainStrategy?.ForceDeadline ?? null;
      if (deadline !== null && Date.parse(deadline) < nowMs) fault(`${Name} is still drained`);
      const left = [...account.occupantsOf(ID)].filter((one) => isToGo(one, account));
      for (const one of left) fault(`${one.Name} was told to leave ${Name} and is there`);
    }
  },
});

/** A drain without a deadline waits as long as there is nowhere to go. */
const isToGo = ({ NodeID, DesiredTransition }: Allocation, account: Account): boolean =>
  DesiredTransition.Migrate === true && account.node(NodeID)?.Drain !== true;
