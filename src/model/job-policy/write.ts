import { FilterError } from '../../language/filter/filter.ts';
import { checkValues } from '../check-values.ts';
import { type Fault, invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import { below, faultAt } from '../path.ts';
import { type JobPolicy, JobPolicySchema } from './job-policy.ts';
import { compileRule } from './judge.ts';

const namePattern = /^[a-zA-Z0-9_-]{1,128}$/;

/** @throws RosterError `invalid-body` with every fault */
export function requireJobPolicy(policy: JobPolicy): void {
  const faults: Fault[] = [...checkValues(JobPolicySchema, policy)];
  const fault = (key: string, message: string) => faults.push(faultAt(below(null, key), message));
  const { Name, Rule } = policy;
  if (Name === '') fault('Name', 'is required');
  else if (!namePattern.test(Name)) {
    fault('Name', `must be 1 to ${limits.jobPolicy.nameLengthMax} letters, digits, "-" and "_"`);
  }
  const wrong = ruleFault(Rule);
  if (wrong !== undefined) fault('Rule', wrong);
  if (faults.length > 0) throw invalid('invalid-body', faults);
}

/** The fault of a rule, as the end of a sentence; `undefined` if it has none. */
function ruleFault(rule: string): string | undefined {
  if (rule.trim() === '') return 'is required';
  try {
    compileRule(rule);
    return undefined;
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const { line, column, sentence } = error;
    return `is wrong at line ${line}, column ${column}: ${sentence}`;
  }
}
