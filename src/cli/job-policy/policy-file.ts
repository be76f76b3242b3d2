import { evaluateConstant } from '../../language/hcl/constant.ts';
import type { Source } from '../../language/hcl/source.ts';
import type { HclBody } from '../../language/hcl/syntax.ts';
import type { JobPolicyRequest } from '../../model/job-policy/job-policy.ts';
import { readBlockFile } from '../block-file.ts';

export const policyExample = `Example:
  job_policy "owned" {
    description       = "Every job says whose it is"
    namespace         = "*"
    enforcement_level = "soft-mandatory"
    rule              = "owner in Meta"
    message           = "Give the job a Meta.owner"
  }`;

/** @throws CliError with the file and the place */
export const jobPolicyIn = (text: string, path: string) =>
  readBlockFile<JobPolicyRequest>(text, path, {
    block: 'job_policy',
    word: 'policy',
    fieldsOf: fieldsIn,
  });

const names: Readonly<Record<string, string>> = {
  description: 'Description',
  namespace: 'Namespace',
  enforcement_level: 'EnforcementLevel',
  scope: 'Scope',
  rule: 'Rule',
  message: 'Message',
};

function fieldsIn(body: HclBody, source: Source): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const item of body.items) {
    const { offset } = item.range.start;
    const key = item.kind === 'attribute' ? item.name : item.type;
    const field = Object.hasOwn(names, key) ? names[key] : undefined;
    if (item.kind !== 'attribute' || field === undefined) {
      throw source.error(`A job policy has no "${key}"`, offset);
    }
    fields[field] = evaluateConstant(item.value, source);
  }
  return fields;
}
