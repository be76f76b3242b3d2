import type { JobPolicy } from '../../model/job-policy/job-policy.ts';
import type { Context } from '../context.ts';
import { argument, type OptionDefinition } from '../definition.ts';
import { nounList } from '../list-command.ts';
import { nounCommands } from '../noun-commands.ts';
import { oneLine, orDash } from '../render/text.ts';
import { readText } from '../text-file.ts';
import { wholeNumberOption } from '../whole-number.ts';
import { jobPolicyIn, policyExample } from './policy-file.ts';

async function print({ screen }: Context, value: JobPolicy): Promise<void> {
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

const checkIndex: OptionDefinition = {
  name: 'check-index',
  value: 'N',
  description: 'Only if the ModifyIndex of the policy is still N; 0: only if there is no policy.',
};

export const jobPolicies = nounCommands<JobPolicy>({
  words: ['job', 'policy'],
  one: 'a job policy',
  many: 'the job policies',
  verbs: { create: { word: 'apply', summary: 'Create or replace a job policy.' } },
  argument: argument('POLICY', 'Name of the job policy.', 'job-policy'),
  read: (client, name) => client.jobPolicies.read(name),
  print,
  list: nounList({
    request: 'GET /v1/job-policies',
    empty: 'There are no job policies.',
    columns: {
      Name: ({ Name }) => oneLine(Name),
      Namespace: ({ Namespace }) => oneLine(Namespace),
      Enforcement: ({ EnforcementLevel }) => EnforcementLevel,
      Description: ({ Description }) => orDash(Description),
    },
  }),
  create: {
    arguments: [argument('FILE', 'The policy, in HCL or JSON; - is standard input.', 'file')],
    options: [checkIndex],
    details: policyExample,
    async write(context, path, options) {
      const cas = wholeNumberOption(options, 'check-index');
      const given = jobPolicyIn(await readText(context, path!, 'job policy'), path!);
      return context.client.jobPolicies.write(given.Name, given, { cas });
    },
  },
  delete: {
    options: [checkIndex],
    run: (client, name, options) =>
      client.jobPolicies.delete(name, { cas: wholeNumberOption(options, 'check-index') }),
  },
});
