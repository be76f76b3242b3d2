/**
 * `distinct_hosts` and `distinct_property`: the rules that depend on where the job already is.
 * Source: docs/behaviour/scheduling.md#comparisons.
 */
import type { Constraint } from '../../model/constraint/constraint.ts';
import type { Job } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { compileTarget, isOfNodeAlone, type Reader } from '../fitting/target.ts';
import { type JobLocations, ValueCounts } from './locations.ts';
import { Numbering } from './numbering.ts';

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

/** Whether the rule speaks of what nodes may share, rather than of each node alone. */
export const isOfProperty = ({ target }: DistinctRule): boolean => !isOfNodeAlone(target);

/** A rule and what counts for it, kept as placements come and go. */
export class DistinctColumn {
  readonly rule: DistinctRule;
  readonly #counts: ValueCounts;

  /** `values` numbers the rule's values, for those who ask by number. */
  constructor(rule: DistinctRule, locations: JobLocations, values = new Numbering()) {
    this.rule = rule;
    this.#counts = new ValueCounts(rule.read, values, locations.byValue(rule.read, rule.group));
  }

  /** By the number of the node's value, -1 for none. */
  allows(number: number): boolean {
    return number >= 0 && this.#counts.count(number) < this.rule.limit;
  }

  allowsNode(node: Node): boolean {
    return this.allows(this.#counts.numberOf(node));
  }

  /** Why the node is not allowed, as metrics tell it. */
  text(node: Node): string {
    if (this.rule.name === 'distinct_hosts') return 'distinct_hosts';
    const { target } = this.rule;
    const number = this.#counts.numberOf(node);
    if (number < 0) return `distinct_property: missing property ${target}`;
    const value = this.#counts.name(number);
    return `distinct_property: ${target}=${value} used by ${this.#counts.count(number)} allocs`;
  }

  /** An allocation that counts for the rule came to the node (`by` 1) or went (-1). */
  change(node: Node, by: 1 | -1): void {
    const number = this.#counts.numberOf(node);
    if (number >= 0) this.#counts.change(number, by);
  }
}
