/**
 * How a plan ends allocations, and what it notes of them.
 * Source: docs/behaviour/allocations.md#descriptions.
 */
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

/** Nothing changes of what is wanted of it. */
export const mark = (allocation: Allocation): PlannedStop => ({
  ...stopOf(allocation, allocation.DesiredDescription),
  desiredStatus: allocation.DesiredStatus,
});

/** Nobody hears of it for the time being. */
export const unknownMark = (allocation: Allocation): PlannedStop => ({
  ...mark(allocation),
  desiredDescription: descriptions.unknown,
  clientStatus: 'unknown',
});

/** It was away, and is back: nobody has to give it up any more. */
export const backMark = (allocation: Allocation): PlannedStop => ({
  ...mark(allocation),
  desiredDescription: '',
  followupEvaluationId: '',
});
