import { HclError } from '../../language/hcl/errors.ts';
import { parseRules } from '../../language/rules/parse.ts';
import { isDatacenterName } from '../acl-token/identities.ts';
import { checkValues } from '../check-values.ts';
import { complete } from '../complete.ts';
import { type Fault, invalid, refusal } from '../errors.ts';
import { limits } from '../limits.ts';
import { faultAt, type Path, type Report } from '../path.ts';
import type { Input } from '../schema.ts';
import { type AclPolicy, AclPolicySchema, type JobAcl } from './acl-policy.ts';
import { builtinPolicyOf } from './builtin.ts';
import { contentHash } from './content-hash.ts';

export type AclPolicyInput = Input<AclPolicy>;

/** The fields of a policy that a caller may change. */
export type PolicyContent = Pick<
  AclPolicy,
  'Name' | 'Description' | 'Rules' | 'Datacenters' | 'JobACL'
>;

export function policyHash(content: PolicyContent): string {
  const { Name, Description, Rules, Datacenters, JobACL } = content;
  // A policy without workloads keeps the hash of older versions.
  const forWorkloads = JobACL === null ? [] : [JobACL];
  return contentHash([Name, Description, Rules, Datacenters, ...forWorkloads]);
}

/** Letters, digits, `-`, `_` and at most one `/`, which it does not begin with. */
const namePattern = /^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]*)?$/;
export const reservedPrefix = 'builtin/';

/** Whether a policy, builtin ones included, can have the name. */
export const isPolicyName = (name: string): boolean =>
  name.length <= limits.acl.policyNameLengthMax && namePattern.test(name);

/**
 * The checked content of a policy that a caller wrote. `stored` is the policy that it replaces; a builtin
 * policy keeps its rules. Source: docs/contract/access-control.md#policies.
 * @throws RosterError `invalid-body` with every fault, `known` ones first, `builtin-protected`
 */
export function policyContent(
  input: AclPolicyInput,
  stored?: AclPolicy,
  known: readonly Fault[] = [],
): PolicyContent {
  const { Name, Description, Rules, Datacenters, JobACL } = complete(AclPolicySchema, input);
  const builtin = stored && builtinPolicyOf(stored.Partition, stored.ID);
  const faults: Fault[] = [...known, ...checkValues(AclPolicySchema, input)];
  const report = (path: Path, message: string) => faults.push(faultAt(path, message));
  const at = (key: string): Path => ({ parent: null, key });
  const nameFault = policyNameFault(Name, stored);
  if (nameFault !== undefined) report(at('Name'), nameFault);
  if ((Datacenters ?? []).length > limits.acl.datacentersMax) {
    report(at('Datacenters'), `must hold at most ${limits.acl.datacentersMax} names`);
  }
  (Datacenters ?? []).slice(0, limits.fault.listedMax).forEach((datacenter, key) => {
    if (isDatacenterName(datacenter)) return;
    report({ parent: at('Datacenters'), key }, 'must be made of letters, digits, "-" and "_"');
  });
  if (JobACL !== null) reportJobAcl(JobACL, at('JobACL'), report);
  if (builtin === undefined) faults.push(...rulesFaults(Rules));
  if (faults.length > 0) throw invalid('invalid-body', faults);
  if (builtin === undefined) return { Name, Description, Rules, Datacenters, JobACL };
  const refuse = (reason: string) =>
    refusal('builtin-protected', { noun: 'policy', name: builtin.Name, reason });
  if (input.Rules != null && input.Rules !== builtin.Rules) {
    throw refuse('its rules cannot be changed');
  }
  if (Datacenters !== null) throw refuse('its datacenters cannot be changed');
  if (JobACL !== null) throw refuse('it cannot be given to workloads');
  return { Name, Description, Rules: builtin.Rules, Datacenters, JobACL };
}

function reportJobAcl({ Namespace, JobID, Group, Task }: JobAcl, path: Path, report: Report): void {
  const { lengthMax } = limits.names;
  const at = (key: string): Path => ({ parent: path, key });
  if (JobID === '') report(at('JobID'), 'is required');
  if (Task !== '' && Group === '') report(at('Group'), 'is required with a task');
  for (const [key, name] of Object.entries({ Namespace, JobID, Group, Task })) {
    if (name.length > lengthMax) report(at(key), `must be at most ${lengthMax} characters long`);
    if (name.includes('\0')) report(at(key), 'must not hold a NUL character');
  }
}

function policyNameFault(name: string, stored: AclPolicy | undefined): string | undefined {
  const { policyNameLengthMax } = limits.acl;
  if (name === '') return 'is required';
  if (name.length > policyNameLengthMax) {
    return `must be at most ${policyNameLengthMax} characters long`;
  }
  if (!namePattern.test(name)) {
    return 'must be made of letters, digits, "-", "_" and at most one "/"';
  }
  if (!name.startsWith(reservedPrefix) || name === stored?.Name) return undefined;
  return `must not begin with "${reservedPrefix}", which is for builtin policies`;
}

/** Every fault of the text, each with its line and column. */
export function rulesFaults(rules: string): Fault[] {
  try {
    parseRules(rules);
    return [];
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    return error.faults.slice(0, limits.fault.listedMax).map(({ line, column, sentence }) => ({
      pointer: '/Rules',
      message: `Rules, line ${line}, column ${column}: ${sentence}`,
    }));
  }
}
