import type { AclPolicy } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, filterOption, type OptionDefinition, verbose } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import type { Options } from '../options.ts';
import { oneLine, orDash } from '../render/text.ts';
import { readText } from '../text-file.ts';
import { argument, description } from './links.ts';
import { deleted, resolvePolicy } from './resolve.ts';
import { placeRows } from './show.ts';

const policy = argument('POLICY', 'Its name, its id, or 8 or more characters of the id.', 'policy');
const rules: OptionDefinition = {
  name: 'rules',
  value: 'FILE',
  completes: 'file',
  description: 'A file with the rules, in HCL or JSON; - is standard input.',
};
const datacenter: OptionDefinition = {
  name: 'datacenter',
  value: 'NAME',
  isRepeatable: true,
  description: 'Where it holds; everywhere without it. May be repeated.',
};

const workloads: readonly OptionDefinition[] = [
  { name: 'job', value: 'JOB', description: 'Tasks of this job have it by themselves.' },
  { name: 'job-namespace', value: 'NAME', description: 'Where the job is (default).' },
  { name: 'group', value: 'GROUP', description: 'Only those of this group of the job.' },
  { name: 'task', value: 'TASK', description: 'Only this task of the group.' },
];

/** @throws CliError where the options say which task, and not of which job */
function jobAclIn(options: Options): Pick<AclPolicy, 'JobACL'> | Record<never, never> {
  const [JobID, Namespace, Group = '', Task = ''] = ['job', 'jobNamespace', 'group', 'task'].map(
    (name) => options.text(name),
  );
  if (JobID === '') return { JobACL: null };
  if (JobID !== undefined) {
    return { JobACL: { Namespace: Namespace ?? 'default', JobID, Group, Task } };
  }
  if (Namespace === undefined && Group === '' && Task === '') return {};
  throw new CliError('--job is missing: --job-namespace, --group and --task say more of it.');
}

const workloadsOf = ({ Namespace, JobID, Group, Task }: NonNullable<AclPolicy['JobACL']>): string =>
  [Namespace, JobID, Group, Task].filter(Boolean).map(oneLine).join(' / ');

async function print(context: Context, value: AclPolicy): Promise<number> {
  const { screen, isJson, json } = context;
  if (isJson) {
    await json(value);
    return exitCodes.ok;
  }
  await screen.fields([
    ['ID', value.ID],
    ['Name', oneLine(value.Name)],
    ['Description', orDash(value.Description)],
    ...placeRows(value),
    ['Datacenters', value.Datacenters?.map(oneLine).join(', ') ?? 'all'],
    ...(value.JobACL ? [['Workloads', workloadsOf(value.JobACL)] as const] : []),
  ]);
  await screen.title('Rules');
  await screen.line(value.Rules.trimEnd() || 'None.');
  return exitCodes.ok;
}

export const policyCreate: ClientCommand = {
  definition: {
    arguments: [argument('NAME', 'Its name.')],
    options: [rules, description, datacenter, ...workloads],
    details: `Examples:
  roster acl policy create -rules deploy.hcl deploy
  roster acl policy create -rules reader.hcl -job web reader
  echo 'node_prefix "" { policy = "read" }' | roster acl policy create -rules - nodes`,
  },
  async run(context, [Name], options) {
    const file = options.text('rules');
    const { value } = await context.client.acl.policies.create({
      Name: Name!,
      Rules: file === undefined ? '' : await readText(context, file, 'rules'),
      Description: options.text('description') ?? '',
      Datacenters: options.list('datacenter'),
      ...jobAclIn(options),
    });
    return print(context, value);
  },
};

export const policyRead: ClientCommand = {
  definition: { arguments: [policy] },
  async run(context, [given]) {
    const id = await resolvePolicy(context, given!);
    return print(context, (await context.client.acl.policies.read(id)).value);
  },
};

export const policyUpdate: ClientCommand = {
  definition: {
    arguments: [policy],
    options: [
      { name: 'name', value: 'NAME', description: 'Its new name; what links it goes along.' },
      ...[rules, description, datacenter, ...workloads],
    ],
    details: `What is not given stays as it is. -datacenter "" means everywhere, and -job "" that no
task has it by itself.`,
  },
  async run(context, [given], options) {
    const { policies } = context.client.acl;
    const id = await resolvePolicy(context, given!);
    const { value: before } = await policies.read(id);
    const file = options.text('rules');
    const datacenters = options.list('datacenter');
    const { value } = await policies.update(id, {
      ...before,
      Name: options.text('name') ?? before.Name,
      Description: options.text('description') ?? before.Description,
      ...(file !== undefined && { Rules: await readText(context, file, 'rules') }),
      ...(datacenters.length > 0 && { Datacenters: datacenters.filter(Boolean) }),
      ...jobAclIn(options),
    });
    return print(context, value);
  },
};

export const policyDelete: ClientCommand = {
  definition: { arguments: [policy], details: 'What links it goes on without it.' },
  async run(context, [given]) {
    const id = await resolvePolicy(context, given!);
    const { value } = await context.client.acl.policies.delete(id);
    await deleted(context, 'policy', id, value);
    return exitCodes.ok;
  },
};

export const policyList: ClientCommand = {
  definition: {
    options: [filterOption, verbose],
  },
  async run({ client, screen, isJson, json, id }, _words, options) {
    const { value } = await client.acl.policies.list({ filter: options.text('filter') });
    if (isJson) await json(value);
    else if (value.length === 0) await screen.line('There are no such policies.');
    else {
      await screen.table(
        ['ID', 'Name', 'Datacenters', 'Description'],
        // Ids of builtin policies differ at their ends.
        value.map((one) => [
          id(one.ID) === '00000000' ? one.ID : id(one.ID),
          oneLine(one.Name),
          one.Datacenters?.map(oneLine).join(', ') ?? 'all',
          orDash(one.Description),
        ]),
      );
    }
    return exitCodes.ok;
  },
};
