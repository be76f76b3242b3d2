/**
 * Judges a job by the job policies. Source: docs/contract/jobs.md#job-policies.
 *
 * Invariants
 *
 *  P1. A rule that cannot be evaluated on a job counts as violated, so that no job passes unjudged.
 *  P2. All policies are judged, so that all violations are told at once, in the order of the policies'
 *      names.
 */
import { compileFilter, FilterError, type Predicate } from '../../language/filter/filter.ts';
import { type Job, JobSchema } from '../job/job.ts';
import type { EnforcementLevel, JobPolicy } from './job-policy.ts';

/** A policy that the job violates. */
export interface Violation {
  readonly name: string;
  readonly level: EnforcementLevel;
  /** The fault, as a sentence without its full stop. */
  readonly reason: string;
}

export type JudgedPolicy = Pick<JobPolicy, 'Name' | 'EnforcementLevel' | 'Rule' | 'Message'>;

/** The policies that the job violates, in their order. */
export function violations(policies: readonly JudgedPolicy[], job: Job): Violation[] {
  return policies.flatMap((policy) => {
    const reason = reasonAgainst(policy, job);
    const { Name: name, EnforcementLevel: level } = policy;
    return reason === undefined ? [] : [{ name, level, reason }];
  });
}

/** `policy "NAME" (LEVEL): REASON` */
export const describeViolation = ({ name, level, reason }: Violation): string =>
  `policy "${name}" (${level}): ${reason}`;

/** `undefined`: the rule holds. */
function reasonAgainst(policy: JudgedPolicy, job: Job): string | undefined {
  const { Message, Rule } = policy;
  try {
    if (predicateOf(policy)(job)) return undefined;
    return Message.replace(/\.$/, '') || `its rule does not hold: ${Rule.replace(/\s+/g, ' ')}`;
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const about = Message === '' ? '' : `${Message.replace(/\.$/, '')} `;
    return `${about}(its rule cannot be evaluated: ${error.sentence})`;
  }
}

/** @throws FilterError if the text is not a rule */
export const compileRule = (rule: string): Predicate =>
  compileFilter(rule, JobSchema, { isStrict: true });

/** Rows never change, so a compiled rule stays right. */
const compiled = new WeakMap<object, Predicate>();

function predicateOf(policy: JudgedPolicy): Predicate {
  let predicate = compiled.get(policy);
  if (predicate === undefined) {
    predicate = compileRule(policy.Rule);
    compiled.set(policy, predicate);
  }
  return predicate;
}
