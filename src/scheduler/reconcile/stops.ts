/** Stops of allocations, and notes on them. Source: docs/behaviour/allocations.md#descriptions. */
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { PlannedStop } from '../../model/plan/plan.ts';
import { descriptions } from '../view.ts';

export const stopOf = (allocation: Allocation, description: string): PlannedStop => ({
  allocationId: allocation.ID,
  nodeId: allocation.NodeID,
  desiredStatus: 'stop',
  desiredDescription: description,
});

export const lostStop = (allocation: Allocation): PlannedStop => ({
  ...stopOf(allocation, descriptions.lost),
  clientStatus: 'lost',
});

/** A note: the desired status stays. */
export const mark = (allocation: Allocation): PlannedStop => ({
  ...stopOf(allocation, allocation.DesiredDescription),
  desiredStatus: allocation.DesiredStatus,
});

/** Notes that the allocation's node is away. */
export const unknownMark = (allocation: Allocation): PlannedStop => ({
  ...mark(allocation),
  desiredDescription: descriptions.unknown,
  clientStatus: 'unknown',
});

/** Notes that the allocation's node is back. */
export const backMark = (allocation: Allocation): PlannedStop => ({
  ...mark(allocation),
  desiredDescription: '',
  followupEvaluationId: '',
});
