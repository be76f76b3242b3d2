/**
 * `distinct_hosts` and `distinct_property`: the rules that depend on where the job already is.
 * Source: facts/scheduler.md §6.7.
 */
import type { Constraint } from '../model/constraint/constraint.ts';
import type { Job } from '../model/job/job.ts';
import type { Node } from '../model/node/node.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import { type JobPresence, ValueColumn } from './presence.ts';
import { compileTarget, type Reader } from './target.ts';

/** At most `limit` live allocations on nodes of one value. */
export interface DistinctRule {
  readonly name: 'distinct_hosts' | 'distinct_property';
  /** The group whose allocations count; `undefined`: the whole job's. */
  readonly group: string | undefined;
  readonly target: string;
  readonly read: Reader;
  readonly limit: number;
}

export function distinctRules(job: Job, group: TaskGroup): readonly DistinctRule[] {
  return [
    ...(job.Constraints ?? []).flatMap((constraint) => distinctRule(constraint, undefined)),
    ...(group.Constraints ?? []).flatMap((constraint) => distinctRule(constraint, group.Name)),
  ];
}

const falseWords = new Set(['0', 'f', 'F', 'false', 'False', 'FALSE']);

function distinctRule(
  { Operand, LTarget, RTarget }: Constraint,
  group: string | undefined,
): readonly DistinctRule[] {
  if (Operand === 'distinct_hosts' && !falseWords.has(RTarget)) {
    const target = '${node.unique.id}';
    return [{ name: Operand, group, target, read: compileTarget(target), limit: 1 }];
  }
  if (Operand === 'distinct_property') {
    const limit = /^\d+$/.test(RTarget) ? Number(RTarget) : 1;
    return [
      { name: Operand, group, target: LTarget, read: compileTarget(LTarget), limit } as const,
    ];
  }
  return [];
}

/** A rule over the candidate nodes of one group, kept as placements come and go. */
export class DistinctColumn {
  readonly rule: DistinctRule;
  readonly #values: ValueColumn;

  constructor(rule: DistinctRule, nodes: readonly Node[], presence: JobPresence) {
    this.rule = rule;
    this.#values = new ValueColumn(rule.read, nodes, presence.byValue(rule.read, rule.group));
  }

  allows(slot: number): boolean {
    return this.#allows(this.#values.valueOf[slot]!);
  }

  allowsNode(node: Node): boolean {
    return this.#allows(this.#values.numberOf(node));
  }

  /** Why the node is not allowed, as metrics tell it. */
  text(node: Node): string {
    if (this.rule.name === 'distinct_hosts') return 'distinct_hosts';
    const number = this.#values.numberOf(node);
    if (number < 0) return `distinct_property: missing property ${this.rule.target}`;
    const value = this.#values.names[number]!;
    const count = this.#values.counts[number]!;
    return `distinct_property: ${this.rule.target}=${value} used by ${count} allocs`;
  }

  /** An allocation of the group came (`by` 1) or went (-1). */
  change(node: Node, group: string, by: 1 | -1): void {
    if (this.rule.group === undefined || this.rule.group === group) this.#values.change(node, by);
  }

  #allows(number: number): boolean {
    return number >= 0 && this.#values.counts[number]! < this.rule.limit;
  }
}
