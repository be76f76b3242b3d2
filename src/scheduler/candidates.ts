/** From all nodes to those that may run a group, and the count of the others. Source: facts §6.9. */
import type { Job } from '../model/job/job.ts';
import type { Node } from '../model/node/node.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import { firstFailed, type Rule, rulesFor } from './feasibility.ts';

export interface Candidates {
  readonly rules: readonly Rule[];
  /** Nodes that pass the whole table, in the order given. */
  readonly feasible: readonly Node[];
  /** Nodes that take work and that the job wants, with the rule that filters them out. */
  readonly filtered: readonly { readonly node: Node; readonly rule: Rule }[];
  readonly nodesInPool: number;
  /** Nodes that take work, by datacenter. */
  readonly available: Readonly<Record<string, number>>;
}

const isCandidateScope = (scope: Rule['scope']): boolean =>
  scope === 'standing' || scope === 'candidate';
const isFilterScope = (scope: Rule['scope']): boolean => !isCandidateScope(scope);

export function candidatesFor(job: Job, group: TaskGroup, nodes: Iterable<Node>): Candidates {
  const rules = rulesFor(job, group);
  const feasible: Node[] = [];
  const filtered: { node: Node; rule: Rule }[] = [];
  const available = new Map<string, number>();
  let nodesInPool = 0;
  for (const node of nodes) {
    const unwanted = firstFailed(rules, node, isCandidateScope);
    if (unwanted === undefined || unwanted.name === 'datacenter') nodesInPool++;
    if (unwanted !== undefined) continue;
    available.set(node.Datacenter, (available.get(node.Datacenter) ?? 0) + 1);
    const rule = firstFailed(rules, node, isFilterScope);
    if (rule === undefined) feasible.push(node);
    else filtered.push({ node, rule });
  }
  return { rules, feasible, filtered, nodesInPool, available: Object.fromEntries(available) };
}

/** For each computed class that was looked at: whether its nodes could run the group. */
export function classVerdicts({ rules, feasible, filtered }: Candidates): Map<string, boolean> {
  const verdicts = new Map<string, boolean>();
  const isClassScope = (scope: Rule['scope']): boolean => scope === 'class';
  for (const node of [...feasible, ...filtered.map((entry) => entry.node)]) {
    if (node.ComputedClass === '' || verdicts.has(node.ComputedClass)) continue;
    verdicts.set(node.ComputedClass, firstFailed(rules, node, isClassScope) === undefined);
  }
  return verdicts;
}
