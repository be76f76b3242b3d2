import type { Allocation } from '../../model/allocation/allocation.ts';
import { holdsResources } from '../../model/allocation/allocation-rules.ts';
import { checkNode, type NodeChange } from './check.ts';
import { occupancyOf } from './occupancy.ts';

export interface ListedChange extends Omit<NodeChange, 'occupancy' | 'holder'> {
  /** The allocations on the node. */
  readonly existing: readonly Allocation[];
}

/** {@link checkNode} with the node's allocations as a list. */
export const checkListed = ({ existing, ...change }: ListedChange): string | undefined =>
  checkNode({
    ...change,
    occupancy: occupancyOf(() => existing),
    holder: (id) => existing.find((one) => one.ID === id && holdsResources(one)),
  });
