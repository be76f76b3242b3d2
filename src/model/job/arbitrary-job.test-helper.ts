import fc from 'fast-check';
import { arbitraryOf, durations, type Overrides } from '../arbitrary.test-helper.ts';
import { type JobInput, JobSchema, jobTypes } from './job.ts';

/**
 * Random jobs that a server accepts, of every type and with every block, written as a caller may: fields
 * absent or null, durations in both forms. The fields come from the schema, so new fields are included
 * automatically. Rules between fields are in `overrides` and in `agreed…`.
 */
export const arbitraryJob = (): fc.Arbitrary<JobInput> =>
  arbitraryOf(JobSchema, overrides).map((job) => agreedJob(job as Json) as JobInput);

// biome-ignore lint/suspicious/noExplicitAny: a job as it is being put together.
type Json = any;

const kernel = '${attr.kernel.name}';
const comparisons = [
  { LTarget: kernel, RTarget: 'linux', Operand: '=' },
  { LTarget: kernel, RTarget: 'lin.x|(mac)?os', Operand: 'regexp' },
  { LTarget: '${attr.os.version}', RTarget: '>= 1.2, < 99', Operand: 'version' },
  { LTarget: '${attr.os.version}', RTarget: '>= 1.2.0', Operand: 'semver' },
  { LTarget: '${meta.racks}', RTarget: 'a,b', Operand: 'set_contains_any' },
];
const constraints = fc.constantFrom(
  ...comparisons,
  { LTarget: '${meta.x}', Operand: 'is_not_set' },
  { LTarget: '${attr.os.signals}', Operand: 'is_set', RTarget: null },
);
const affinities = fc.record({
  comparison: fc.constantFrom(...comparisons),
  Weight: fc.constantFrom<number | null>(-100, 1, 100, null),
});

/** Ranges that do not overlap, so that a group's field fits any other field of its job. */
const overrides: Overrides = {
  'Job.ID': fc.stringMatching(/^[a-z][a-z0-9-]{0,5}[a-z0-9]$/),
  'Job.Region': fc.constantFrom<string | null>('global', null),
  'Job.Namespace': null,
  'Job.NodePool': fc.constantFrom('default', 'all'),
  'Job.Payload': null,
  'Job.Version': fc.constant(0),
  'Job.Type': fc.constantFrom(...jobTypes),
  'VersionTag.Name': fc.constantFrom('v1', 'first release'),
  Constraint: constraints,
  Affinity: affinities.map(({ comparison, Weight }) => ({ ...comparison, Weight })),
  Spread: fc.constantFrom<unknown>(
    { Attribute: '${node.datacenter}', Weight: 1 },
    { Attribute: '${meta.rack}', SpreadTarget: [{ Value: 'a', Percent: 60 }, { Value: 'b' }] },
  ),
  'Migrate.MaxParallel': fc.integer({ min: 1, max: 9 }),
  'Migrate.MinHealthyTime': durations(0, 59),
  'Migrate.HealthyDeadline': durations(60, 200),
  'Update.Stagger': durations(1, 60),
  'Update.MinHealthyTime': durations(0, 59),
  'Update.HealthyDeadline': durations(60, 200),
  'Update.ProgressDeadline': durations(301, 900),
  'Update.AutoPromote': null,
  'Update.Canary': fc.integer({ min: 0, max: 3 }),
  'RestartPolicy.Attempts': fc.integer({ min: 1, max: 3 }),
  'RestartPolicy.Interval': durations(60, 3600),
  'RestartPolicy.Delay': durations(0, 15),
  ReschedulePolicy: fc.constantFrom<unknown>(
    { Delay: '7s' },
    { Attempts: 2, Unlimited: false, Interval: '24h' },
    { Unlimited: true, Attempts: 0, DelayFunction: 'fibonacci', MaxDelay: 3600e9 },
    { Attempts: 0, Unlimited: false, Delay: 0 },
  ),
  'Job.Reschedule': fc.constantFrom<unknown>(null, { MaxDelay: '2h' }),
  'Disconnect.LostAfter': durations(1, 3600),
  'Disconnect.StopOnClientAfter': null,
  'EphemeralDisk.SizeMB': fc.integer({ min: 101, max: 500 }),
  'LogConfig.MaxFiles': fc.integer({ min: 1, max: 10 }),
  'LogConfig.MaxFileSizeMB': fc.integer({ min: 1, max: 10 }),
  'Periodic.Spec': null,
  'Periodic.Specs': fc.constantFrom(['@daily'], ['*/5 * * * *', '0 0 1 1 *']),
  'Periodic.TimeZone': fc.constantFrom('UTC', 'Europe/Berlin', ''),
  'ParameterizedJob.MetaOptional': fc.constantFrom(['Own'], null),
  'Port.Label': null,
  'Port.Value': null,
  'Port.IgnoreCollision': fc.constant(false),
  'Network.Mode': fc.constantFrom('', 'host', 'bridge', 'none', 'cni/own'),
  'Service.AddressMode': null,
  'Service.PortLabel': null,
  'Service.TaskName': null,
  'Service.Provider': null,
  'Service.Name': null,
  'Check.Name': null,
  'Check.Type': fc.constantFrom('http', 'tcp'),
  'Check.Path': fc.constantFrom('/', '/health?x=1'),
  'Check.Protocol': fc.constantFrom('', 'http', 'https'),
  'Check.Method': fc.constantFrom('', 'get', 'HEAD'),
  'Check.PortLabel': null,
  'Check.AddressMode': null,
  'Check.TaskName': null,
  'Check.Expose': fc.constant(false),
  'Check.OnUpdate': fc.constantFrom('', 'require_healthy'),
  'Service.OnUpdate': fc.constantFrom('', 'require_healthy'),
  'Identity.ChangeSignal': fc.constantFrom('SIGHUP', 'SIGUSR1'),
  'Service.Identity': fc.constantFrom(null, { Audience: ['services'] }),
  'Task.KillTimeout': durations(0, 120),
  'Task.KillSignal': fc.constantFrom('', 'SIGINT', 'SIGUSR2'),
  'Resources.CPU': fc.integer({ min: 1, max: 500 }),
  'Resources.Cores': fc.constant(0),
  'Resources.MemoryMaxMB': fc.constantFrom(0, -1, 4096),
  'Resources.DiskMB': fc.constant(0),
  'Resources.SecretsMB': fc.constantFrom(0, 10),
  Device: fc.constantFrom<unknown>(
    { Name: 'gpu', Count: 2, Constraints: [comparisons[0]] },
    { Name: 'maker/gpu/large', Affinities: [comparisons[1]] },
  ),
  'NUMA.Devices': null,
  'Artifact.GetterOptions': fc.constantFrom(null, { checksum: `md5:${'0'.repeat(32)}` }),
  'Template.ChangeMode': fc.constantFrom('noop', 'restart', ''),
  'Template.Perms': fc.constantFrom('', '0600', '7777'),
  Wait: fc.constant({ Min: '1s', Max: '10s' }),
  'Task.Lifecycle': null,
  'Task.Leader': null,
  'SecretFetch.Config': null,
  'CSIPluginConfig.ID': fc.constant('plugin'),
  Volume: fc.constantFrom<unknown>(
    { Type: 'host', Source: 'data', Sticky: true },
    { Type: 'host', Source: 'data', AccessMode: 'single-node-reader-only', ReadOnly: true },
    {
      Type: 'csi',
      Source: 'data',
      AccessMode: 'multi-node-multi-writer',
      AttachmentMode: 'file-system',
      MountOptions: { FSType: 'ext4', MountFlags: ['noatime'] },
      PerAlloc: false,
    },
  ),
};

const named = (list: Json[] | null | undefined, prefix: string): Json[] =>
  (list ?? []).map((one, index) => ({ ...one, Name: `${prefix}${index}` }));

/** The job with its required fields, and without the fields that its type must not have. */
function agreedJob(job: Json): Json {
  const type = job.Type ?? 'service';
  const isBatch = type === 'batch' || type === 'sysbatch';
  const { Update, Migrate, Reschedule, Periodic, ParameterizedJob, ...rest } = job;
  const { Affinities, Spreads, ...others } = rest;
  const groups = job.TaskGroups?.length > 0 ? job.TaskGroups : [{}];
  return {
    ...others,
    ID: job.ID ?? 'job',
    ...(type !== 'system' && { Affinities, Spreads }),
    ...(!isBatch && { Update }),
    ...(type === 'service' && { Migrate, Reschedule }),
    ...(isBatch && { Periodic: Periodic && { Specs: ['@hourly'], ...Periodic }, ParameterizedJob }),
    ...(job.VersionTag && { VersionTag: { Name: 'v0', ...job.VersionTag } }),
    ...(job.Multiregion && {
      Multiregion: { ...job.Multiregion, Regions: named(job.Multiregion.Regions, 'r') },
    }),
    TaskGroups: named(groups, 'g').map((group) => agreedGroup(group, type)),
  };
}

function agreedGroup(group: Json, type: string): Json {
  const isBatch = type === 'batch' || type === 'sysbatch';
  const { Update, Migrate, ReschedulePolicy, MaxRunDuration, Scaling, ...rest } = group;
  const { Affinities, Spreads, ...others } = rest;
  const Count = type === 'system' ? 1 : Math.min(group.Count ?? 1, 9);
  const Networks = (group.Networks ?? []).slice(0, 1).map(agreedNetwork);
  const labels: string[] = Networks.flatMap((network: Json) =>
    [...network.ReservedPorts, ...network.DynamicPorts].map((port: Json) => port.Label),
  );
  const tasks = group.Tasks?.length > 0 ? group.Tasks : [{}];
  return {
    ...others,
    Count,
    ...(type !== 'system' && { Affinities, Spreads }),
    ...(!isBatch && { Update: Update && canarying(Update) }),
    ...(type === 'service' && { Migrate }),
    ...(type === 'service' && { ReschedulePolicy }),
    ...(isBatch && { MaxRunDuration }),
    ...(Scaling && type !== 'system' && { Scaling: agreedScaling(Scaling, Count) }),
    Disconnect: group.Disconnect && agreedDisconnect(group.Disconnect, type),
    Networks,
    Services: agreedServices(group.Services, labels, 'host', 'service'),
    Tasks: named(tasks, 't').map((task, index) => ({
      ...agreedTask(task, index, group, labels),
      ...(type === 'system' && { Affinities: null }),
    })),
  };
}

const agreedDisconnect = (disconnect: Json, type: string): Json => ({
  ...disconnect,
  ...((type === 'service' || type === 'batch') &&
    disconnect.LostAfter === undefined && { StopOnClientAfter: '1m' }),
});

const canarying = (update: Json): Json => ({
  ...update,
  AutoPromote: update.Canary > 1 && update.MaxParallel > 0,
});

const agreedScaling = (scaling: Json, count: number): Json => ({
  ...scaling,
  Type: 'horizontal',
  Min: scaling.Min == null ? null : Math.min(scaling.Min, count),
  Max: count + 2,
});

function agreedNetwork(network: Json): Json {
  const ports = (list: Json[] | null | undefined, label: string, value: number): Json[] =>
    (list ?? []).map((port, index) => ({
      ...port,
      Label: `${label}${index}`,
      ...(value > 0 && { Value: value + index }),
    }));
  const { ReservedPorts, DynamicPorts } = network;
  return {
    ...network,
    ReservedPorts: ports(ReservedPorts, 'static', 8000),
    DynamicPorts: ports(DynamicPorts, 'dynamic', 0),
  };
}

/** Checks need a port. */
const agreedServices = (
  services: Json[] | null | undefined,
  labels: readonly string[],
  AddressMode: string,
  name: string,
): Json[] =>
  (services ?? []).map((service, index) => ({
    ...service,
    Name: `${name}-${index}-\${BASE}`,
    PortLabel: labels[0],
    TaskName: 't0',
    ...(service.Address ? {} : { AddressMode }),
    Connect: null,
    Checks:
      labels.length === 0
        ? []
        : named(service.Checks, 'check ').map((check) => ({
            Type: 'http',
            Path: '/',
            ...check,
            Advertise: '',
            GRPCService: '',
            Interval: check.Interval ? '10s' : 1e9,
            Timeout: '1s',
          })),
  }));

const agreedIdentity = (identity: Json): Json => ({
  ...identity,
  ChangeSignal: identity.ChangeSignal || 'SIGHUP',
  Filepath: identity.File ? identity.Filepath : '',
});

function agreedTask(task: Json, index: number, group: Json, labels: readonly string[]): Json {
  const volumes = Object.keys(group.Volumes ?? {});
  const identities = named(task.Identities, 'i').map(agreedIdentity);
  const list = (name: string): Json[] => task[name] ?? [];
  return {
    ...task,
    Driver: 'mock',
    Leader: index === 0 && task.User !== undefined,
    Lifecycle: index === 0 ? null : { Hook: 'prestart', Sidecar: true },
    Resources: task.Resources && {
      ...task.Resources,
      Networks: null,
      MemoryMB: task.Resources.MemoryMB ?? 64,
    },
    Services: agreedServices(task.Services, labels, 'auto', 'of-task'),
    Artifacts: list('Artifacts').map((one) => ({ GetterSource: 'https://host/file.tgz', ...one })),
    Templates: list('Templates').map((one, at) => ({
      EmbeddedTmpl: 'text',
      ...one,
      DestPath: `local/${at}`,
      ChangeScript: one.ChangeScript && { Command: 'reload', ...one.ChangeScript },
    })),
    Actions: named(list('Actions'), 'action').map((one) => ({ Command: 'run', ...one })),
    VolumeMounts: volumes.map((Volume) => ({
      PropagationMode: 'host-to-task',
      SELinuxLabel: 'z',
      ReadOnly: true,
      Volume,
      Destination: `/${Volume}`,
    })),
    ScalingPolicies: list('ScalingPolicies').map((one) => ({ ...one, Min: 0, Max: 10 })),
    DispatchPayload: task.DispatchPayload && { File: 'in/payload' },
    SecretFetches: list('SecretFetches').map((one, at) => ({
      Provider: 'p',
      Path: 'x',
      ...one,
      Name: `s_${at}`,
    })),
    Identity: task.Identity && { ...agreedIdentity(task.Identity), TTL: null },
    Identities: identities,
    CSIPluginConfig: task.CSIPluginConfig && {
      ID: 'plugin',
      Type: 'node',
      ...task.CSIPluginConfig,
    },
  };
}
