/**
 * `distinct_hosts` and `distinct_property`: rules that depend on the job's other allocations.
 * Source: docs/behaviour/scheduling.md#comparisons.
 */
import type { Constraint } from '../../model/constraint/constraint.ts';
import type { Job } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { compileTarget, isOfNodeAlone, type Reader } from '../fitting/target.ts';
import { type JobLocations, ValueCounts } from './locations.ts';
import { Numbering } from './numbering.ts';

/** Allows at most `limit` live allocations on nodes with the same value. */
export interface DistinctRule {
  readonly name: 'distinct_hosts' | 'distinct_property';
  /** The group whose allocations count; `undefined`: all allocations of the job count. */
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

/** Whether nodes may share a value of the target. */
export const isOfProperty = ({ target }: DistinctRule): boolean => !isOfNodeAlone(target);

/** A rule with its counts, kept up to date while allocations are placed and removed. */
export class DistinctColumn {
  readonly rule: DistinctRule;
  readonly #counts: ValueCounts;

  /** `values` numbers the target's values, for callers of `allows`. */
  constructor(rule: DistinctRule, locations: JobLocations, values = new Numbering()) {
    this.rule = rule;
    this.#counts = new ValueCounts(rule.read, values, locations.byValue(rule.read, rule.group));
  }

  /** Whether the rule allows nodes with the value of this number; -1: nodes without a value. */
  allows(number: number): boolean {
    return number >= 0 && this.#counts.count(number) < this.rule.limit;
  }

  allowsNode(node: Node): boolean {
    return this.allows(this.#counts.numberOf(node));
  }

  /** The reason, for metrics, that the node is not allowed. */
  text(node: Node): string {
    if (this.rule.name === 'distinct_hosts') return 'distinct_hosts';
    const { target } = this.rule;
    const number = this.#counts.numberOf(node);
    if (number < 0) return `distinct_property: missing property ${target}`;
    const value = this.#counts.name(number);
    return `distinct_property: ${target}=${value} used by ${this.#counts.count(number)} allocs`;
  }

  /** Notes that an allocation that the rule counts was placed on the node (`by` 1) or left it (-1). */
  change(node: Node, by: 1 | -1): void {
    const number = this.#counts.numberOf(node);
    if (number >= 0) this.#counts.change(number, by);
  }
}
