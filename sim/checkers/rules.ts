/**
 * Where a group may run, read from the contract once more: as much of it as the simulated jobs ask
 * for. What they do not ask for is refused here rather than passed over.
 */
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Constraint } from '../../src/model/constraint/constraint.ts';
import type { Job } from '../../src/model/job/job.ts';
import type { Node } from '../../src/model/node/node.ts';
import type { TaskGroup } from '../../src/model/task-group/task-group.ts';

export const takesWork = (node: Node): boolean =>
  node.Status === 'ready' && !node.Drain && node.SchedulingEligibility === 'eligible';

/** Whether the node alone is of the kind that the group asks for. */
export function admits(node: Node, job: Job, group: TaskGroup): boolean {
  const isInPlace =
    (job.NodePool === 'all' || job.NodePool === node.NodePool) &&
    job.Datacenters.some((one) => one === '*' || one === node.Datacenter);
  const hasDrivers = group.Tasks.every(({ Driver }) => node.Drivers[Driver]?.Healthy === true);
  return isInPlace && hasDrivers && ownRules(job, group).every((one) => holds(one, node));
}

/** What the group asks of the nodes together: at most `limit` of these on nodes of equal value. */
export interface Distinct {
  readonly target: string;
  readonly limit: number;
  /** Of the group alone, or of the whole job. */
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

/** Whether one more of the group on the node is one too many, `others` being there. */
export function isCrowded(
  node: Node,
  rule: Distinct,
  group: TaskGroup,
  others: Iterable<Allocation>,
  nodeOf: (id: string) => Node | undefined,
): boolean {
  const value = propertyOf(rule.target, node);
  let count = 0;
  for (const { NodeID, TaskGroup: name } of others) {
    if (rule.isOfGroup && name !== group.Name) continue;
    const other = nodeOf(NodeID);
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
