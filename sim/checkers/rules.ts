/**
 * The nodes that a group may run on, written a second time from the contract, as far as simulated jobs need
 * it. An unknown constraint throws, so that no constraint is ignored by accident.
 */
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Constraint } from '../../src/model/constraint/constraint.ts';
import type { Job } from '../../src/model/job/job.ts';
import type { Node } from '../../src/model/node/node.ts';
import type { TaskGroup } from '../../src/model/task-group/task-group.ts';
import type { Account } from '../account.ts';

export const takesWork = (node: Node): boolean =>
  node.Status === 'ready' && !node.Drain && node.SchedulingEligibility === 'eligible';

/** Whether the node satisfies the job's pool, datacenters, drivers and constraints. */
export function admits(node: Node, job: Job, group: TaskGroup): boolean {
  const isInPlace =
    (job.NodePool === 'all' || job.NodePool === node.NodePool) &&
    job.Datacenters.some((one) => one === '*' || one === node.Datacenter);
  const hasDrivers = group.Tasks.every(({ Driver }) => node.Drivers[Driver]?.Healthy === true);
  return isInPlace && hasDrivers && ownRules(job, group).every((one) => holds(one, node));
}

/** At most `limit` allocations on nodes with the same value of `target`. */
export interface Distinct {
  readonly target: string;
  readonly limit: number;
  /** Counts the allocations of the group instead of the whole job. */
  readonly isOfGroup: boolean;
}

export function distinctRules(job: Job, group: TaskGroup): readonly Distinct[] {
  const of = (constraints: readonly Constraint[] | null, isOfGroup: boolean) =>
    (constraints ?? []).flatMap(({ Operand, LTarget, RTarget }): Distinct[] => {
      if (Operand === 'distinct_hosts') return [{ target: uniqueId, limit: 1, isOfGroup }];
      if (Operand !== 'distinct_property') return [];
      return [{ target: LTarget, limit: Number(RTarget || 1), isOfGroup }];
    });
  return [...of(job.Constraints, false), ...of(group.Constraints, true)];
}

interface Placed {
  /** Allocations of the job. */
  readonly others: Iterable<Allocation>;
  readonly account: Account;
}

/** Whether the rule forbids another allocation of the group on the node. */
export function isCrowded(
  node: Node,
  rule: Distinct,
  group: TaskGroup,
  { others, account }: Placed,
): boolean {
  const value = propertyOf(rule.target, node);
  let count = 0;
  for (const { NodeID, TaskGroup: name } of others) {
    if (rule.isOfGroup && name !== group.Name) continue;
    const other = account.node(NodeID);
    if (other !== undefined && propertyOf(rule.target, other) === value) count++;
  }
  return value === undefined || count >= rule.limit;
}

const uniqueId = '${node.unique.id}';

const ownRules = (job: Job, group: TaskGroup): readonly Constraint[] =>
  [job, group, ...group.Tasks]
    .flatMap(({ Constraints }) => Constraints ?? [])
    .filter(({ Operand }) => !Operand.startsWith('distinct_'));

function holds({ LTarget, RTarget, Operand }: Constraint, node: Node): boolean {
  const value = propertyOf(LTarget, node);
  if (Operand === '=') return value !== undefined && value === RTarget;
  if (Operand === '!=') return value !== RTarget;
  throw new Error(`no simulated job asks for ${Operand}`);
}

function propertyOf(target: string, node: Node): string | undefined {
  const [, name = ''] = /^\$\{(.+)\}$/.exec(target) ?? [];
  if (name.startsWith('attr.')) return node.Attributes[name.slice('attr.'.length)];
  if (name.startsWith('meta.')) return node.Meta[name.slice('meta.'.length)];
  if (name === 'node.class') return node.NodeClass;
  if (name === 'node.unique.id') return node.ID;
  throw new Error(`no simulated job asks for ${target}`);
}
