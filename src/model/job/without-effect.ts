/**
 * Fields of a job that are stored and have no effect here. The submitter is told. A test compares the table
 * with the schemas: a field has a reader, or is in the table.
 */
import { seconds } from '../../base/duration.ts';
import type { Steps } from '../../base/steps.ts';
import { below, type Path, type Report } from '../path.ts';
import { isSame } from '../same.ts';
import type { Type } from '../schema.ts';
import { absentValue, shapeOf, withoutNull } from '../schema-shape.ts';
import { type JobInput, JobSchema } from './job.ts';

const noMesh = 'has no effect: there is no mesh, and so no sidecar and no upstream';
const oneRegistry = 'has no effect: services are registered in this cluster';
const rendered = 'has no effect: templates are rendered anew for every run';
const replaced = 'is deprecated and has no effect: use Disconnect';
const unpaced = 'has no effect: MinHealthyTime is how long a step lasts';
const ofTask = 'has no effect: a token is for its task';

/** Rows for groups and for tasks. */
const ofBoth = (rows: Readonly<Record<string, string>>) => ({
  ...prefixed('TaskGroups[].', rows),
  ...prefixed('TaskGroups[].Tasks[].', rows),
});

const prefixed = (prefix: string, rows: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(rows).map(([path, message]) => [`${prefix}${path}`, message]));

const networkRows = {
  MBits: 'is deprecated and has no effect',
  Device: 'has no effect: the node chooses the device',
  CIDR: 'has no effect: the node has its own',
  IP: 'has no effect: the node has its own',
  Hostname: 'has no effect: with the driver docker, write hostname in its config',
  DNS: 'has no effect: with the driver docker, write dns_servers in its config',
  CNI: 'has no effect: no node has CNI plugins',
};

/** By the path of the field: the end of the sentence that begins with the path. */
export const fieldsWithoutEffect: Readonly<Record<string, string>> = {
  Multiregion: 'has no effect: a cluster is one region',
  'Update.Stagger': unpaced,
  SecretsNamespace: 'has no effect: no node has a secrets engine',
  ...prefixed('TaskGroups[].', {
    'Update.Stagger': unpaced,
    StopAfterClientDisconnect: replaced,
    MaxClientDisconnect: replaced,
    PreventRescheduleOnLost: replaced,
    'Volumes{}.Sticky':
      'has no effect: to keep an allocation on its node, set EphemeralDisk.Sticky',
    'Volumes{}.AccessMode': 'has no effect: a task that mounts a host volume may use it',
    'Volumes{}.AttachmentMode': 'has no effect: a host volume is a directory',
    'Volumes{}.MountOptions': 'has no effect: no node has storage plugins',
    ...prefixed('Networks[].', networkRows),
  }),
  ...ofBoth({
    Registry: oneRegistry,
    'RestartPolicy.RenderTemplates': rendered,
    'Services[].EnableTagOverride': 'has no effect: nobody else changes the tags',
    'Services[].Connect': noMesh,
    'Services[].Cluster': oneRegistry,
    'Services[].Kind': noMesh,
    'Services[].Identity': 'has no effect: a registration needs no token',
    'Services[].Checks[].Advertise': 'has no effect: a check is registered with its service',
    'Services[].Checks[].Expose': noMesh,
  }),
  ...prefixed('TaskGroups[].Tasks[].', {
    Kind: noMesh,
    Secrets: 'takes a secrets engine, which no node has: the group waits',
    SecretFetches: 'has no effect: nothing fetches them; keep secrets in variables',
    CSIPluginConfig: 'has no effect: no node takes storage plugins',
    Schedule: 'has no effect',
    'Resources.IOPS': 'is deprecated and has no effect',
    'Resources.NUMA': 'has no effect: cores are taken wherever they are',
    'Templates[].SecretsGrace': 'is deprecated and has no effect',
    'Identity.ServiceName': ofTask,
    'Identities[].ServiceName': ofTask,
    ...prefixed('Resources.Networks[].', networkRows),
  }),
};

/** The rows by their keys, so that a job is walked once. `[]` and `{}` stand for all elements. */
interface Branch {
  readonly below: Map<string, Branch>;
  /** The keys of `below` and their branches: a list is walked without a new object for each of them. */
  readonly steps: { readonly key: string; readonly inner: Branch }[];
  row?: { readonly message: string; readonly ordinary: readonly unknown[] };
}

const newBranch = (): Branch => ({ below: new Map(), steps: [] });

const root: Branch = newBranch();
for (const [path, message] of Object.entries(fieldsWithoutEffect)) {
  const keys = path.replaceAll('[]', '.[]').replaceAll('{}', '.{}').split('.');
  let branch = root;
  for (const key of keys) {
    let inner = branch.below.get(key);
    if (inner === undefined) {
      inner = newBranch();
      branch.below.set(key, inner);
      branch.steps.push({ key, inner });
    }
    branch = inner;
  }
  // Every job that was read has this field, and is sent back with it.
  const isStagger = keys.at(-1) === 'Stagger';
  branch.row = { message, ordinary: [schemaDefault(keys), ...(isStagger ? [seconds(30)] : [])] };
}

function schemaDefault(keys: readonly string[]): unknown {
  let schema: Type.TSchema = JobSchema;
  for (const key of keys) {
    const shape = shapeOf(withoutNull(schema).schema);
    if (shape.kind === 'list') schema = shape.item;
    else if (shape.kind === 'map') schema = shape.value;
    else if (shape.kind === 'record') schema = shape.properties[key]!;
  }
  return absentValue(schema);
}

/** Tells every field of the job as it was written that has no effect, group by group. */
export function* warnOfFieldsWithoutEffect(given: JobInput, warn: Report): Steps<void> {
  visit({ ...given, TaskGroups: null }, root, null, warn);
  const groups = root.below.get('TaskGroups')!.below.get('[]')!;
  for (const [index, group] of (given.TaskGroups ?? []).entries()) {
    visit(group, groups, below(null, 'TaskGroups', index), warn);
    yield;
  }
}

function visit(value: unknown, branch: Branch, path: Path, warn: Report): void {
  if (value === null || value === undefined) return;
  const { row } = branch;
  if (row !== undefined && holdsSomething(value)) {
    if (!row.ordinary.some((one) => isSame(one, value))) warn(path, row.message);
  }
  for (const { key, inner } of branch.steps) {
    if (key === '[]') {
      (value as readonly unknown[]).forEach((item, index) => {
        visit(item, inner, below(path, index), warn);
      });
    } else if (key === '{}') {
      for (const [name, item] of Object.entries(value)) visit(item, inner, below(path, name), warn);
    } else {
      const item = (value as Record<string, unknown>)[key];
      if (item !== null && item !== undefined) visit(item, inner, below(path, key), warn);
    }
  }
}

const holdsSomething = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== '' && value !== false && value !== 0;
