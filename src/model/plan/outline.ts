/**
 * The effects of a plan, for people and for the comparison of two plans.
 * Source: docs/behaviour/jobs.md#plans.
 */
import type { Allocation } from '../allocation/allocation.ts';
import { Choice, Flag, type Model, Text, Type } from '../schema.ts';
import type { Plan } from './plan.ts';

/**
 * `place`: a new allocation. `update`: an allocation is updated in place. `stop`: an allocation is stopped.
 * `evict`: an allocation of another job is stopped to make room. `mark`: an allocation gets a note, and goes
 * on.
 */
export const plannedActions = ['place', 'update', 'stop', 'evict', 'mark'] as const;

export const PlannedChangeSchema = Type.Object({
  Action: Choice(plannedActions, 'place'),
  Namespace: Text(),
  JobID: Text(),
  TaskGroup: Text(),
  Name: Text(),
  NodeID: Text(),
  NodeName: Text(),
  /** For a new allocation: its id if exactly this plan is carried out. */
  AllocID: Text(),
  /** The allocation that it replaces. */
  PreviousAllocation: Text(),
  Canary: Flag(),
  Description: Text(),
});
export type PlannedChange = Model<typeof PlannedChangeSchema>;

export interface Outline {
  readonly changes: readonly PlannedChange[];
  /** The number of allocations without a node, by group. */
  readonly queued: Readonly<Record<string, number>>;
  /** The changes to the job's deployments, in words. */
  readonly deployments: readonly string[];
}

export const nothingPlanned: Outline = { changes: [], queued: {}, deployments: [] };

/** `find` looks up an existing allocation. */
export function outlineOf(
  plan: Plan,
  find: (namespace: string, id: string) => Allocation | undefined,
): Outline {
  const existing = (namespace: string, id: string, change: Partial<PlannedChange>) => {
    const one = find(namespace, id);
    return one === undefined ? [] : [changeOf(one, change)];
  };
  const changes = [
    ...plan.placements.map((one) =>
      changeOf(one, { Action: 'place', Canary: one.DeploymentStatus?.Canary === true }),
    ),
    ...plan.inPlaceUpdates.map((one) =>
      changeOf(one, { Action: 'update', Description: one.DesiredDescription }),
    ),
    ...plan.stops.flatMap(({ allocationId, desiredStatus, desiredDescription }) =>
      existing(plan.namespace, allocationId, {
        Action: desiredStatus === 'run' ? 'mark' : 'stop',
        Description: desiredDescription,
      }),
    ),
    ...plan.preemptions.flatMap(({ allocationId, namespace, byAllocationId }) =>
      existing(namespace, allocationId, {
        Action: 'evict',
        Description: `makes way for ${byAllocationId}`,
      }),
    ),
  ];
  return {
    changes: changes.sort(inOrder),
    queued: plan.queued,
    deployments: [
      ...(plan.deployment === null ? [] : ['a new deployment begins']),
      ...plan.deploymentUpdates.map(({ ID, Status }) => `deployment ${ID} becomes ${Status}`),
    ],
  };
}

type Known = Pick<
  Allocation,
  ('ID' | 'Namespace' | 'JobID' | 'TaskGroup' | 'Name') | ('NodeID' | 'NodeName')
> &
  Partial<Pick<Allocation, 'PreviousAllocation'>>;

const changeOf = (one: Known, change: Partial<PlannedChange>): PlannedChange => ({
  Action: 'place',
  Namespace: one.Namespace,
  JobID: one.JobID,
  TaskGroup: one.TaskGroup,
  Name: one.Name,
  NodeID: one.NodeID,
  NodeName: one.NodeName,
  AllocID: one.ID,
  PreviousAllocation: one.PreviousAllocation ?? '',
  Canary: false,
  Description: '',
  ...change,
});

const indexOf = ({ Name }: PlannedChange): number => Number(/\[(\d+)\]$/.exec(Name)?.[1] ?? 0);

/** By group, then by index, then by action. */
function inOrder(left: PlannedChange, right: PlannedChange): number {
  if (left.TaskGroup !== right.TaskGroup) return left.TaskGroup < right.TaskGroup ? -1 : 1;
  return (
    indexOf(left) - indexOf(right) ||
    plannedActions.indexOf(left.Action) - plannedActions.indexOf(right.Action) ||
    (left.NodeID < right.NodeID ? -1 : Number(left.NodeID > right.NodeID))
  );
}

/** Sentences about the differences between the plan and the present decision; empty if they are the same. */
export function outlineDifferences(planned: Outline, now: Outline): string[] {
  const missing = without(planned.changes, now.changes);
  const added = without(now.changes, planned.changes);
  return [
    ...movedSentences(missing, added),
    ...queuedSentences(planned, now),
    ...planned.deployments
      .filter((word) => !now.deployments.includes(word))
      .map((word) => `the plan was that ${word}, and this would not happen now`),
    ...now.deployments
      .filter((word) => !planned.deployments.includes(word))
      .map((word) => `${word} now, which was not planned`),
  ];
}

/**
 * The text by which changes are compared. New allocations have another id in every plan, so their ids and all
 * descriptions are left out.
 */
const identity = (one: PlannedChange): string =>
  [
    one.Action,
    one.Namespace,
    one.JobID,
    one.TaskGroup,
    one.Name,
    one.NodeID,
    one.Action === 'place' ? one.PreviousAllocation : one.AllocID,
    one.Canary,
  ].join('\0');

function without(changes: readonly PlannedChange[], others: readonly PlannedChange[]) {
  const counts = new Map<string, number>();
  for (const other of others) {
    counts.set(identity(other), (counts.get(identity(other)) ?? 0) + 1);
  }
  return changes.filter((change) => {
    const count = counts.get(identity(change)) ?? 0;
    counts.set(identity(change), count - 1);
    return count <= 0;
  });
}

const deeds = {
  place: 'be placed',
  update: 'be updated in place',
  stop: 'be stopped',
  evict: 'be evicted',
  mark: 'be marked',
} as const;

/** If only the node of a change differs, a single sentence tells both nodes. */
function movedSentences(missing: readonly PlannedChange[], added: readonly PlannedChange[]) {
  const deedOf = ({ Action, Namespace, JobID, Name }: PlannedChange) =>
    [Action, Namespace, JobID, Name].join('\0');
  const open = Map.groupBy([...added].reverse(), deedOf);
  const sentences = missing.map((was) => {
    const is = open.get(deedOf(was))?.pop();
    const planned = `${subject(was)} was to ${deeds[was.Action]} on node "${was.NodeName}"`;
    return is === undefined
      ? `${planned}, and would not be now`
      : `${planned}${was.NodeID === is.NodeID ? ' in place of another allocation' : `, and would be on node "${is.NodeName}" now`}`;
  });
  const rest = [...open.values()].flatMap((list) => list.reverse());
  return [
    ...sentences,
    ...rest.map(
      (is) =>
        `${subject(is)} would ${deeds[is.Action]} on node "${is.NodeName}" now, which was not planned`,
    ),
  ];
}

/**
 * The name of the allocation, with the id if it exists: several allocations may have the same name. An
 * evicted allocation may belong to a job that the caller may not read, so it is not named.
 */
function subject({ Action, Name, AllocID }: PlannedChange): string {
  if (Action === 'evict') return 'an allocation of lower priority';
  return Action === 'place' ? Name : `${Name} (${AllocID})`;
}

function queuedSentences({ queued: planned }: Outline, { queued: now }: Outline): string[] {
  const of = (record: Outline['queued'], group: string) =>
    Object.hasOwn(record, group) ? record[group]! : 0;
  const groups = new Set([...Object.keys(planned), ...Object.keys(now)]);
  return [...groups]
    .filter((group) => of(planned, group) !== of(now, group))
    .map(
      (group) =>
        `the plan left ${of(planned, group)} of the group "${group}" without a node, and now ${of(now, group)} would find none`,
    );
}
