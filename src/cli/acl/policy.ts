import type { AclPolicy } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { argument, description, type OptionDefinition, verbose } from '../definition.ts';
import { CliError } from '../errors.ts';
import { nounList } from '../list-command.ts';
import { nounCommands } from '../noun-commands.ts';
import type { Options } from '../options.ts';
import { oneLine, orDash } from '../render/text.ts';
import { readText } from '../text-file.ts';
import { newName } from './links.ts';
import { resolvePolicy } from './resolve.ts';
import { placeRows } from './show.ts';

export const rulesOption: OptionDefinition = {
  name: 'rules',
  value: 'FILE',
  completes: 'file',
  description: 'A file with the rules, in HCL or JSON; - is standard input.',
};
const datacenter: OptionDefinition = {
  name: 'datacenter',
  value: 'NAME',
  isRepeatable: true,
  description: 'A datacenter where it applies; all by default. May be repeated.',
};

const workloads: readonly OptionDefinition[] = [
  { name: 'job', value: 'JOB', description: 'Give the policy to all tasks of this job.' },
  { name: 'job-namespace', value: 'NAME', description: 'Namespace of the job (default).' },
  { name: 'group', value: 'GROUP', description: 'Only tasks of this group of the job.' },
  { name: 'task', value: 'TASK', description: 'Only this task of the group.' },
];

/** @throws CliError if the options name a group or a task and no job */
function jobAclIn(options: Options): Pick<AclPolicy, 'JobACL'> | Record<never, never> {
  const [JobID, Namespace, Group = '', Task = ''] = ['job', 'jobNamespace', 'group', 'task'].map(
    (name) => options.text(name),
  );
  if (JobID === '') return { JobACL: null };
  if (JobID !== undefined) {
    return { JobACL: { Namespace: Namespace ?? 'default', JobID, Group, Task } };
  }
  if (Namespace === undefined && Group === '' && Task === '') return {};
  throw new CliError('--job is missing: --job-namespace, --group and --task need it.');
}

const workloadsOf = ({ Namespace, JobID, Group, Task }: NonNullable<AclPolicy['JobACL']>): string =>
  [Namespace, JobID, Group, Task].filter(Boolean).map(oneLine).join(' / ');

async function print({ screen }: Context, value: AclPolicy): Promise<void> {
  await screen.fields([
    ['ID', value.ID],
    ['Name', oneLine(value.Name)],
    ['Description', orDash(value.Description)],
    ...placeRows(value),
    ['Datacenters', datacentersOf(value)],
    ...(value.JobACL ? [['Workloads', workloadsOf(value.JobACL)] as const] : []),
  ]);
  await screen.title('Rules');
  await screen.line(value.Rules.trimEnd() || 'None.');
}

const datacentersOf = ({ Datacenters }: Pick<AclPolicy, 'Datacenters'>): string =>
  Datacenters?.map(oneLine).join(', ') ?? 'all';

async function rulesIn(context: Context, options: Options): Promise<{ readonly Rules?: string }> {
  const file = options.text('rules');
  return file === undefined ? {} : { Rules: await readText(context, file, 'rules') };
}

export const policyFields: readonly OptionDefinition[] = [
  rulesOption,
  description,
  datacenter,
  ...workloads,
];

export const policies = nounCommands<AclPolicy>({
  words: ['acl', 'policy'],
  one: 'a policy',
  many: 'the policies',
  argument: {
    ...argument('POLICY', 'Its name, its id, or 8 or more characters of the id.', 'policy'),
    flags: ['name', 'id'],
  },
  identify: resolvePolicy,
  read: (client, id) => client.acl.policies.read(id),
  print,
  list: nounList({
    request: 'GET /v1/acl/policies',
    options: [verbose],
    empty: 'There are no such policies.',
    columns: {
      // Ids of builtin policies differ at their ends.
      ID: ({ ID }, { id }) => (id(ID) === '00000000' ? ID : id(ID)),
      Name: ({ Name }) => oneLine(Name),
      Datacenters: datacentersOf,
      Description: ({ Description }) => orDash(Description),
    },
  }),
  create: {
    arguments: [{ ...argument('NAME', 'Its name.'), flags: ['name'] }],
    options: policyFields,
    details: `Examples:
  roster acl policy create -rules deploy.hcl deploy
  roster acl policy create -rules reader.hcl -job web reader
  echo 'node_prefix "" { policy = "read" }' | roster acl policy create -rules - nodes`,
    write: async (context, Name, options) =>
      context.client.acl.policies.create({
        Name: Name!,
        Rules: '',
        ...(await rulesIn(context, options)),
        Description: options.text('description') ?? '',
        Datacenters: options.list('datacenter'),
        ...jobAclIn(options),
      }),
  },
  update: {
    options: [newName, ...policyFields],
    details: `Fields that are not given stay. -datacenter "" means all datacenters, and -job "" removes the
link to a job.`,
    async write(context, { id, record }, options) {
      const datacenters = options.list('datacenter');
      return context.client.acl.policies.update(id, {
        ...record,
        Name: options.text('name') ?? record.Name,
        Description: options.text('description') ?? record.Description,
        ...(await rulesIn(context, options)),
        ...(datacenters.length > 0 && { Datacenters: datacenters.filter(Boolean) }),
        ...jobAclIn(options),
      });
    },
  },
  delete: {
    details: 'Tokens and roles that link to it keep their other links.',
    run: (client, id) => client.acl.policies.delete(id),
  },
});
