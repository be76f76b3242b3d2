/**
 * Decides between an allocation that came back and its replacement. Exactly one of the two goes on.
 * Source: docs/behaviour/job-specification.md#disconnected-clients.
 */
import { each, filtered, type Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import type { Disconnect } from '../../model/task-group/policies.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { type Classified, counts, isNewer, runsOut, type Standing } from './classify.ts';

export interface ReturnDecision {
  /** Allocations to stop, because their counterpart goes on. */
  readonly superfluous: readonly Allocation[];
  /** Allocations that came back and go on. */
  readonly kept: readonly Allocation[];
}

/** `classified`: the allocations of a group. */
export function* resolveReturns(
  job: Job,
  group: TaskGroup,
  classified: readonly Classified[],
): Steps<ReturnDecision> {
  const replaced = yield* filtered(
    classified,
    ({ allocation, standing }) => allocation.NextAllocation !== '' && isBack(standing),
  );
  if (replaced.length === 0) return { superfluous: [], kept: [] };
  const byId = new Map<string, Classified>();
  yield* each(classified, (one) => byId.set(one.allocation.ID, one));
  const superfluous = new Map<string, Allocation>();
  const kept: Allocation[] = [];
  for (const original of replaced) {
    if (superfluous.has(original.allocation.ID)) continue;
    const successors = successorsOf(original.allocation, byId);
    const last = successors.at(-1);
    if (last === undefined) continue;
    if (goesOn(original, last, job, group.Disconnect?.Reconcile)) {
      for (const { allocation } of successors) superfluous.set(allocation.ID, allocation);
      kept.push(original.allocation);
    } else {
      superfluous.set(original.allocation.ID, original.allocation);
    }
  }
  return { superfluous: [...superfluous.values()], kept };
}

/** Whether the allocation counts and is not away. */
const isBack = (standing: Standing): boolean => counts(standing) && standing.kind !== 'unknown';

/** The allocation's successors that still count or are away, in order. */
function successorsOf(
  { NextAllocation }: Allocation,
  byId: ReadonlyMap<string, Classified>,
): readonly Classified[] {
  const successors: Classified[] = [];
  const seen = new Set<string>();
  for (let id = NextAllocation; id !== '' && !seen.has(id); ) {
    seen.add(id);
    const next = byId.get(id);
    if (next === undefined) break;
    if (isBack(next.standing) || next.standing.kind === 'unknown') successors.push(next);
    id = next.allocation.NextAllocation;
  }
  return successors;
}

const isDone = ({ ClientStatus }: Allocation): boolean => ClientStatus === 'complete';
const runs = ({ ClientStatus }: Allocation): boolean => ClientStatus === 'running';

/** Whether the allocation that came back goes on, rather than its last successor. */
function goesOn(
  { allocation: original, standing }: Classified,
  { allocation: successor }: Classified,
  job: Job,
  picker: Disconnect['Reconcile'] = 'best_score',
): boolean {
  if (isNewer(successor, original)) return false;
  if (runsOut(job) && (isDone(original) || isDone(successor))) return isDone(original);
  if (isClientTerminal(original) || standing.kind !== 'kept') return false;
  if (isClientTerminal(successor) || successor.ClientStatus === 'unknown') return true;
  if (picker === 'keep_original') return true;
  if (picker === 'keep_replacement') return false;
  if (!runs(successor)) return true;
  return picker === 'longest_running'
    ? startedAtMs(original) <= startedAtMs(successor)
    : scoreOf(original) >= scoreOf(successor);
}

/** Start of the first running task; an allocation without one counts as started last. */
function startedAtMs({ TaskStates }: Allocation): number {
  const starts = Object.values(TaskStates)
    .filter(({ State }) => State === 'running')
    .map(({ StartedAt }) => Date.parse(StartedAt ?? ''))
    .filter((start) => start > 0);
  return starts.length > 0 ? Math.min(...starts) : Number.POSITIVE_INFINITY;
}

/** The node's score at placement; the lowest if the metrics do not list the node. */
const scoreOf = ({ Metrics, NodeID }: Allocation): number =>
  Metrics?.ScoreMetaData?.find((entry) => entry.NodeID === NodeID)?.NormScore ??
  Number.NEGATIVE_INFINITY;
