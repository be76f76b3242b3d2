import type { Allocation } from '../../model/allocation/allocation.ts';
import { holdsResources } from '../../model/allocation/allocation-rules.ts';
import { checkNode, type NodeChange } from './check.ts';
import { occupancyOf } from './occupancy.ts';

export interface ListedChange extends Omit<NodeChange, 'occupancy' | 'holder'> {
  /** Those on the node now. */
  readonly existing: readonly Allocation[];
}

/** {@link checkNode} where those on the node are given as a list. */
export const checkListed = ({ existing, ...change }: ListedChange): string | undefined =>
  checkNode({
    ...change,
    occupancy: occupancyOf(() => existing),
    holder: (id) => existing.find((one) => one.ID === id && holdsResources(one)),
  });
