import type { JobPolicy } from '../../model/job-policy/job-policy.ts';
import { argument } from '../acl/links.ts';
import { deleted } from '../acl/resolve.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, filterOption, type OptionDefinition } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import type { Options } from '../options.ts';
import { oneLine, orDash } from '../render/text.ts';
import { readText } from '../text-file.ts';
import { jobPolicyIn, policyExample } from './policy-file.ts';

const policy = argument('POLICY', 'Name of the job policy.', 'job-policy');

async function print({ screen, isJson, json }: Context, value: JobPolicy): Promise<number> {
  if (isJson) await json(value);
  else {
    await screen.fields([
      ['Name', oneLine(value.Name)],
      ['Description', orDash(value.Description)],
      ['Namespace', oneLine(value.Namespace)],
      ['Enforcement', value.EnforcementLevel],
      ['Scope', value.Scope],
      ['Message', orDash(value.Message)],
      ['Modified', `index ${value.ModifyIndex}`],
    ]);
    await screen.title('Rule');
    for (const line of value.Rule.trimEnd().split('\n')) await screen.line(`  ${oneLine(line)}`);
  }
  return exitCodes.ok;
}

const checkIndex: OptionDefinition = {
  name: 'check-index',
  value: 'N',
  description: 'Only if the ModifyIndex of the policy is still N; 0: only if there is none.',
};

function casOf(options: Options): number | undefined {
  const text = options.text('checkIndex');
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CliError(`--check-index must be an integer from 0, got "${text}".`);
}

export const jobPolicyApply: ClientCommand = {
  definition: {
    arguments: [argument('FILE', 'The policy, in HCL or JSON; - is standard input.', 'file')],
    options: [checkIndex],
    details: policyExample,
  },
  async run(context, [path], options) {
    const cas = casOf(options);
    const given = jobPolicyIn(await readText(context, path!, 'job policy'), path!);
    const { value } = await context.client.jobPolicies.write(given.Name, given, { cas });
    return print(context, value);
  },
};

export const jobPolicyRead: ClientCommand = {
  definition: { arguments: [policy] },
  run: async (context, [name]) =>
    print(context, (await context.client.jobPolicies.read(name!)).value),
};

export const jobPolicyDelete: ClientCommand = {
  definition: { arguments: [policy], options: [checkIndex] },
  async run(context, [name], options) {
    const { value } = await context.client.jobPolicies.delete(name!, { cas: casOf(options) });
    await deleted(context, 'job policy', name!, value);
    return exitCodes.ok;
  },
};

export const jobPolicyList: ClientCommand = {
  definition: {
    options: [filterOption],
  },
  async run({ client, screen, isJson, json }, _words, options) {
    const { value } = await client.jobPolicies.list({ filter: options.text('filter') });
    if (isJson) await json(value);
    else if (value.length === 0) await screen.line('There are no job policies.');
    else {
      await screen.table(
        ['Name', 'Namespace', 'Enforcement', 'Description'],
        value.map((one) => [
          oneLine(one.Name),
          oneLine(one.Namespace),
          one.EnforcementLevel,
          orDash(one.Description),
        ]),
      );
    }
    return exitCodes.ok;
  },
};
