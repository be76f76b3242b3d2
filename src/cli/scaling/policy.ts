import type {
  RegisteredPolicy,
  ScalingPolicyStub,
} from '../../model/scaling-policy/registered-policy.ts';
import { argument, type ClientCommand, verbose } from '../definition.ts';
import { listCommand } from '../list-command.ts';
import { printRecord } from '../noun-commands.ts';
import { oneLine } from '../render/text.ts';
import { resolveId, withPrefix } from '../resolve-id.ts';

type Targeted = Pick<ScalingPolicyStub, 'Target'>;

/** `JOB/GROUP` or `JOB/GROUP/TASK` */
const targetOf = ({ Target: { Job, Group, Task } }: Targeted): string =>
  [Job, Group, Task].flatMap((part) => (part ? [oneLine(part)] : [])).join('/');

export const scalingPolicyList = listCommand({
  words: ['scaling', 'policy', 'list'],
  summary: 'List the scaling policies of jobs.',
  request: 'GET /v1/scaling/policies',
  query: {
    job: { value: 'JOB', description: 'Only policies of this job.' },
    type: { value: 'TYPE', description: 'Only policies of this type.' },
  },
  options: [verbose],
  empty: 'No job says how it is scaled.',
  columns: {
    ID: ({ ID }, { id }) => id(ID),
    Enabled: ({ Enabled }) => String(Enabled),
    Type: ({ Type }) => oneLine(Type),
    Target: targetOf,
  },
});

export const scalingPolicyInfo: ClientCommand = {
  words: ['scaling', 'policy', 'info'],
  summary: 'Show a scaling policy.',
  definition: {
    isPaged: true,
    arguments: [argument('POLICY', 'Id of the scaling policy, or 8 or more characters of it.')],
    options: [verbose],
  },
  async run(context, [given]) {
    const { scalingPolicies } = context.client;
    const noun = {
      word: 'scaling policy',
      listedBy: 'roster scaling policy list',
      list: withPrefix(() => scalingPolicies.list()),
      nameOf: targetOf,
    };
    const { value } = await scalingPolicies.read(await resolveId(noun, given!));
    return printRecord(context, value, ({ screen }, policy) => screen.fields(fieldsOf(policy)));
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
