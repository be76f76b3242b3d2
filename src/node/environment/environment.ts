/**
 * The environment of a task. Precedence, low to high: built-in variables, meta, the host's
 * variables (only where absent), the task's own.
 * Source: docs/reference/environment.md#variables.
 */
import type { AllocatedPort } from '../../model/allocation/allocated-resources.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { allocationIndex } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import type { NodeRegistration } from '../../model/node/node.ts';
import type { Task } from '../../model/task/task.ts';
import { variablePart as clean } from '../../model/task/task-variables.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import type { TaskDirectories } from '../directories.ts';
import type { DriverCapabilities } from '../drivers/driver.ts';
import { usualPath } from './host-environment.ts';
import { interpolate, type Lookup } from './interpolate.ts';

export interface EnvironmentInput {
  readonly node: NodeRegistration;
  readonly region: string;
  readonly allocation: Allocation;
  readonly job: Job;
  readonly group: TaskGroup;
  /** `undefined`: the environment of the whole allocation. */
  readonly task: Task | undefined;
  readonly directories: TaskDirectories;
  /** Of the task's driver. It decides which paths the task sees. */
  readonly isolation: DriverCapabilities['fileSystemIsolation'];
  /** Added by the task's hooks, with precedence over everything else. */
  readonly added: Readonly<Record<string, string>>;
  /** The host's variables that the task may see (`hostEnvironment`). */
  readonly host: Readonly<Record<string, string>>;
}

export interface TaskEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** For the task's `Config`: node attributes and the variables above. */
  readonly lookup: Lookup;
}

type Variables = Record<string, string>;

export function taskEnvironment(input: EnvironmentInput): TaskEnvironment {
  const variables: Variables = {
    ...directoryVariables(input),
    ...identityVariables(input),
    ...resourceVariables(input),
    ...portVariables(input),
    ...metaVariables(input),
  };
  for (const [name, value] of Object.entries(hostVariables(input))) variables[name] ??= value;
  const node = nodeLookup(input.node, input.region);
  const own = (name: string): string | undefined =>
    Object.hasOwn(variables, name) ? variables[name] : undefined;
  const lookup: Lookup = (name) => node(name) ?? own(name);
  // The task's own variables refer only to built-in ones, as they have no order.
  const given = Object.entries(input.task?.Env ?? {}).map(
    ([name, value]) => [interpolate(name, lookup), interpolate(value, lookup)] as const,
  );
  for (const [name, value] of given) variables[name] = value;
  Object.assign(variables, input.added);
  return { variables, lookup };
}

function nodeLookup(node: NodeRegistration, region: string): Lookup {
  const fixed: Variables = {
    'node.unique.id': node.ID,
    'node.unique.name': node.Name,
    'node.datacenter': node.Datacenter,
    'node.region': region,
    'node.class': node.NodeClass,
    'node.pool': node.NodePool,
  };
  const from = (values: Readonly<Variables>, key: string): string | undefined =>
    Object.hasOwn(values, key) ? values[key] : undefined;
  return (name) => {
    if (name.startsWith('attr.')) return from(node.Attributes, name.slice('attr.'.length));
    if (name.startsWith('meta.')) return from(node.Meta, name.slice('meta.'.length));
    return from(fixed, name);
  };
}

function directoryVariables({ directories, isolation }: EnvironmentInput): Variables {
  const inside = { shared: '/alloc', local: '/local', secrets: '/secrets' };
  const { shared, local, secrets } = isolation === 'none' ? directories : inside;
  return { ROSTER_ALLOC_DIR: shared, ROSTER_TASK_DIR: local, ROSTER_SECRETS_DIR: secrets };
}

/** The agent's user, files and programs mean nothing to a task that sees other files. */
const ofTheAgent = new Set(['HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR']);

function hostVariables({ host, isolation }: EnvironmentInput): Readonly<Variables> {
  if (isolation === 'none') return host;
  // An image has its own variables: the host's PATH does not fit its files.
  if (isolation === 'image') return {};
  const passed = Object.entries(host).filter(([name]) => !ofTheAgent.has(name));
  return { ...Object.fromEntries(passed), PATH: usualPath };
}

const identityVariables = (input: EnvironmentInput): Variables => {
  const { allocation, job, group, task, node, region } = input;
  return {
    ROSTER_ALLOC_ID: allocation.ID,
    ROSTER_SHORT_ALLOC_ID: allocation.ID.slice(0, 8),
    ROSTER_ALLOC_NAME: allocation.Name,
    ROSTER_ALLOC_INDEX: String(Math.max(0, allocationIndex(allocation.Name))),
    ...(task !== undefined && { ROSTER_TASK_NAME: task.Name }),
    ROSTER_GROUP_NAME: group.Name,
    ROSTER_JOB_ID: job.ID,
    ROSTER_JOB_NAME: job.Name,
    ...(job.ParentID !== '' && { ROSTER_JOB_PARENT_ID: job.ParentID }),
    ROSTER_DC: node.Datacenter,
    ROSTER_REGION: region,
    ROSTER_NAMESPACE: allocation.Namespace,
  };
};

function resourceVariables({ allocation, task }: EnvironmentInput): Variables {
  if (task === undefined) return {};
  const held = allocation.AllocatedResources.Tasks[task.Name];
  const cores = held?.Cpu.ReservedCores ?? [];
  const memoryMax = held?.Memory.MemoryMaxMB ?? task.Resources.MemoryMaxMB;
  return {
    ROSTER_CPU_LIMIT: String(held?.Cpu.CpuShares ?? task.Resources.CPU),
    ROSTER_MEMORY_LIMIT: String(held?.Memory.MemoryMB ?? task.Resources.MemoryMB),
    ...(memoryMax > 0 && { ROSTER_MEMORY_MAX_LIMIT: String(memoryMax) }),
    ...(cores.length > 0 && { ROSTER_CPU_CORES: cores.join(',') }),
  };
}

function portVariables({ allocation, task }: EnvironmentInput): Variables {
  const { Shared, Tasks } = allocation.AllocatedResources;
  const networks = [...(Shared.Networks ?? []), ...(Tasks[task?.Name ?? '']?.Networks ?? [])];
  const inNetworks = networks.flatMap((network) =>
    [...network.ReservedPorts, ...network.DynamicPorts].map((port) => ({
      ...port,
      HostIP: port.HostIP || network.IP,
    })),
  );
  const variables: Variables = {};
  for (const port of [...inNetworks, ...(Shared.Ports ?? [])]) {
    Object.assign(variables, variablesOfPort(port), variablesInside(port, allocation));
  }
  for (const [other, { Networks }] of Object.entries(Tasks)) {
    for (const network of Networks ?? []) {
      for (const port of [...network.ReservedPorts, ...network.DynamicPorts]) {
        const suffix = `${clean(other)}_${clean(port.Label)}`;
        variables[`ROSTER_IP_${suffix}`] = network.IP;
        variables[`ROSTER_PORT_${suffix}`] = String(port.Value);
        variables[`ROSTER_ADDR_${suffix}`] = address(network.IP, port.Value);
      }
    }
  }
  return variables;
}

function variablesOfPort({ Label, Value, To, HostIP }: AllocatedPort): Variables {
  const label = clean(Label);
  const inside = To > 0 ? To : Value;
  return {
    [`ROSTER_IP_${label}`]: HostIP,
    [`ROSTER_PORT_${label}`]: String(inside),
    [`ROSTER_ADDR_${label}`]: address(HostIP, Value),
    [`ROSTER_HOST_IP_${label}`]: HostIP,
    [`ROSTER_HOST_PORT_${label}`]: String(Value),
    [`ROSTER_HOST_ADDR_${label}`]: address(HostIP, Value),
    [`ROSTER_ALLOC_PORT_${label}`]: String(inside),
  };
}

/** The port's address inside the allocation's own network. */
function variablesInside(
  { Label, Value, To }: AllocatedPort,
  { NetworkStatus }: Allocation,
): Variables {
  if (NetworkStatus === null) return {};
  const label = clean(Label);
  const ip = NetworkStatus.Address || NetworkStatus.AddressIPv6;
  return {
    [`ROSTER_ALLOC_INTERFACE_${label}`]: NetworkStatus.InterfaceName,
    [`ROSTER_ALLOC_IP_${label}`]: ip,
    [`ROSTER_ALLOC_ADDR_${label}`]: address(ip, To > 0 ? To : Value),
  };
}

const address = (ip: string, port: number): string =>
  ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;

function metaVariables({ job, group, task }: EnvironmentInput): Variables {
  const optional = (job.ParameterizedJob?.MetaOptional ?? []).map((key) => [key, ''] as const);
  const meta = { ...Object.fromEntries(optional), ...job.Meta, ...group.Meta, ...task?.Meta };
  const variables: Variables = {};
  for (const [key, value] of Object.entries(meta)) {
    variables[`ROSTER_META_${clean(key)}`] = value;
    variables[`ROSTER_META_${clean(key).toUpperCase()}`] = value;
  }
  return variables;
}
