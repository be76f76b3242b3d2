import type {
  RegisteredPolicy,
  ScalingPolicyStub,
} from '../../model/scaling-policy/registered-policy.ts';
import type { ListOptions } from '../../sdk/client.ts';
import { argument } from '../acl/links.ts';
import { type ClientCommand, verbose } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { oneLine } from '../render/text.ts';
import { resolveId } from '../resolve-id.ts';

type Targeted = Pick<ScalingPolicyStub, 'Target'>;

/** `JOB/GROUP` or `JOB/GROUP/TASK` */
const targetOf = ({ Target: { Job, Group, Task } }: Targeted): string =>
  [Job, Group, Task].flatMap((part) => (part ? [oneLine(part)] : [])).join('/');

export const scalingPolicyList: ClientCommand = {
  definition: {
    options: [
      { name: 'job', value: 'JOB', description: 'Of this job alone.' },
      { name: 'type', value: 'TYPE', description: 'Of this type alone.' },
      verbose,
    ],
  },
  async run({ client, screen, isJson, json, id }, _words, options) {
    const { value } = await client.scalingPolicies.list({
      job: options.text('job'),
      type: options.text('type'),
    });
    if (isJson) await json(value);
    else if (value.length === 0) await screen.line('No job says how it is scaled.');
    else {
      await screen.table(
        ['ID', 'Enabled', 'Type', 'Target'],
        value.map((one) => [id(one.ID), String(one.Enabled), oneLine(one.Type), targetOf(one)]),
      );
    }
    return exitCodes.ok;
  },
};

export const scalingPolicyInfo: ClientCommand = {
  definition: {
    arguments: [argument('POLICY', 'Id of the scaling policy, or 8 or more characters of it.')],
    options: [verbose],
  },
  async run({ client, screen, isJson, json }, [given]) {
    const noun = {
      word: 'scaling policy',
      listedBy: 'roster scaling policy list',
      list: async ({ prefix = '' }: ListOptions) => {
        const answer = await client.scalingPolicies.list();
        return { ...answer, value: answer.value.filter(({ ID }) => ID.startsWith(prefix)) };
      },
      nameOf: targetOf,
    };
    const { value } = await client.scalingPolicies.read(await resolveId(noun, given!));
    if (isJson) await json(value);
    else await screen.fields(fieldsOf(value));
    return exitCodes.ok;
  },
};

const fieldsOf = (policy: RegisteredPolicy) =>
  [
    ['ID', policy.ID],
    ['Namespace', oneLine(policy.Namespace)],
    ['Target', targetOf(policy)],
    ['Type', oneLine(policy.Type)],
    ['Enabled', String(policy.Enabled)],
    ['Min', String(policy.Min ?? '-')],
    ['Max', String(policy.Max ?? '-')],
    ['Policy', oneLine(JSON.stringify(policy.Policy ?? {}))],
  ] as const;
