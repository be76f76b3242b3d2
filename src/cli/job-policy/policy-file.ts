import { evaluateConstant } from '../../language/hcl/constant.ts';
import { parseHcl } from '../../language/hcl/parse.ts';
import { Source } from '../../language/hcl/source.ts';
import type { HclBlock } from '../../language/hcl/syntax.ts';
import type { JobPolicyRequest } from '../../model/job-policy/job-policy.ts';
import { understood } from '../acl/policy-files.ts';
import { CliError } from '../errors.ts';

type Given = JobPolicyRequest & { readonly Name: string };

export const policyExample = `Example:
  job_policy "owned" {
    description       = "Every job says whose it is"
    namespace         = "*"
    enforcement_level = "soft-mandatory"
    rule              = "owner in Meta"
    message           = "Give the job a Meta.owner"
  }`;

/**
 * Reads a policy from a file in HCL or JSON. The server checks the values.
 * @throws CliError with the file and the place
 */
export function jobPolicyIn(text: string, path: string): Given {
  const name = path === '-' ? 'Standard input' : `"${path}"`;
  const given = text.trimStart().startsWith('{') ? fromJson(text, name) : fromHcl(text, name);
  if (typeof given.Name === 'string' && given.Name !== '') return given as Given;
  throw new CliError(`${name} does not name the policy.`);
}

function fromJson(text: string, name: string): JobPolicyRequest {
  try {
    return JSON.parse(text) as JobPolicyRequest;
  } catch (error) {
    throw new CliError(`${name} is not JSON: ${(error as Error).message}.`);
  }
}

function fromHcl(text: string, name: string): JobPolicyRequest {
  const source = new Source(text);
  return understood(name, () => {
    const [block, ...more] = parseHcl(text).items;
    const isPolicy = block?.kind === 'block' && block.type === 'job_policy';
    if (!isPolicy || more.length > 0 || block.labels.length !== 1) {
      const at = (isPolicy ? more[0] : block)?.range.start.offset ?? 0;
      throw source.error('There has to be one block: job_policy "NAME" { … }', at);
    }
    return { Name: block.labels[0]!.text, ...fieldsIn(block, source) };
  });
}

const names: Readonly<Record<string, string>> = {
  description: 'Description',
  namespace: 'Namespace',
  enforcement_level: 'EnforcementLevel',
  scope: 'Scope',
  rule: 'Rule',
  message: 'Message',
};

function fieldsIn({ body }: HclBlock, source: Source): Record<string, unknown> {
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
