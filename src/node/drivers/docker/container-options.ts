/** The options of a container, from the task and its config. Pure. */
import type { ContainerCreateOptions, HostConfig, MountSettings, PortMap } from 'dockerode';
import { limits } from '../../../model/limits.ts';
import { allDefences, type Defences } from '../../defences.ts';
import { DriverFailure, type DriverTask } from '../driver.ts';
import { asBlock, asBlocks, type DockerConfig } from './config.ts';
import { parseUlimit } from './config-checks.ts';
import { containerName, isReserved, type RunLabels, writeLabels } from './labels.ts';
import { labelledBinds } from './mounts.ts';
import { capabilityName } from './settings.ts';

/** The machine's processor, of which a task gets a share. */
export interface Processor {
  readonly totalMhz: number;
  readonly cores: number;
}

export interface ContainerInput {
  readonly task: DriverTask;
  readonly config: DockerConfig;
  readonly mounts: readonly MountSettings[];
  readonly labels: RunLabels;
  readonly processor: Processor;
  readonly runtime: 'docker' | 'podman';
  readonly defences?: Defences | undefined;
}

type NamedOptions = ContainerCreateOptions & { readonly name: string };

/** Throws {@link DriverFailure} for a port that the group does not have. */
export function containerOptions(input: ContainerInput): NamedOptions {
  const { task, config } = input;
  const ports = publishedPorts(task, config);
  const own = Object.entries(asBlock(config.labels)).filter(([name]) => !isReserved(name));
  const command = [
    ...(config.command === undefined ? [] : [config.command]),
    ...(config.args ?? []),
  ];
  const { entrypoint } = config;
  const network = config.network_mode;
  return {
    name: containerName(task.runId),
    Image: imageName(config.image),
    Env: Object.entries(task.variables).map(([name, value]) => `${name}=${value}`),
    Labels: {
      ...(Object.fromEntries(own) as Record<string, string>),
      ...writeLabels(task, input.labels),
    },
    ...(command.length > 0 && { Cmd: command }),
    ...(entrypoint !== undefined && {
      Entrypoint: typeof entrypoint === 'string' ? [entrypoint] : [...entrypoint],
    }),
    ...(task.user !== '' && { User: task.user }),
    ...(config.work_dir !== undefined && { WorkingDir: config.work_dir }),
    ...(config.hostname !== undefined && { Hostname: config.hostname }),
    ...(config.tty === true && { Tty: true }),
    ...(config.interactive === true && { OpenStdin: true }),
    ...(ports !== undefined && {
      ExposedPorts: Object.fromEntries(Object.keys(ports).map((port) => [port, {}])),
    }),
    HostConfig: { ...hostConfig(input), ...(ports !== undefined && { PortBindings: ports }) },
    ...(config.network_aliases !== undefined &&
      network !== undefined && {
        NetworkingConfig: {
          EndpointsConfig: { [network]: { Aliases: [...config.network_aliases] } },
        },
      }),
  };
}

/** An image may be written as a copied URL. */
export const imageName = (image: string): string => image.replace(/^https?:\/\//, '');

const list = (given: readonly string[] | undefined): string[] | undefined => given && [...given];

function hostConfig({
  task,
  config,
  mounts,
  processor,
  runtime,
  labels,
  defences = allDefences,
}: ContainerInput): HostConfig {
  const given: { [K in keyof HostConfig]?: HostConfig[K] | undefined } = {
    NetworkMode: config.network_mode,
    Mounts: [...mounts],
    Binds: labelledBinds(task),
    Privileged: config.privileged,
    CapAdd: list(config.cap_add),
    CapDrop: dropped(config, defences),
    GroupAdd: list(config.group_add),
    ExtraHosts: list(config.extra_hosts),
    Dns: list(config.dns_servers),
    DnsSearch: list(config.dns_search_domains),
    DnsOptions: list(config.dns_options),
    Init: config.init,
    ReadonlyRootfs: config.readonly_rootfs,
    ShmSize: config.shm_size,
    Ulimits: config.ulimit && ulimits(config),
    Sysctls: config.sysctl && (asBlock(config.sysctl) as Record<string, string>),
    SecurityOpt: list(config.security_opt),
    Devices: config.devices && devices(config),
    PidsLimit: config.pids_limit,
    IpcMode: config.ipc_mode,
    PidMode: config.pid_mode,
    Runtime: config.runtime,
    LogConfig: logConfig(config, labels.logs !== undefined, runtime),
    // The task's own policy decides on restarts.
    RestartPolicy: { Name: 'no' },
    ...resources(task, config, processor),
  };
  const told = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(told) as HostConfig;
}

/** Both runtimes let containers make devices by default; here a task must ask for that. */
function dropped(
  { privileged, cap_add: add = [], cap_drop: drop = [] }: DockerConfig,
  { noNewDevices }: Defences,
): string[] {
  const asked = add.map(capabilityName).some((name) => name === 'MKNOD' || name === 'ALL');
  return noNewDevices && !asked && privileged !== true ? [...drop, 'MKNOD'] : [...drop];
}

const mebibyte = 2 ** 20;
const defaultPeriodUs = 100_000;
/** The least that the kernel accepts. */
const leastShares = 2;

function resources(
  { resources: held }: DriverTask,
  config: DockerConfig,
  processor: Processor,
): HostConfig {
  const hardMb = Math.max(held.memoryMaxMb, config.memory_hard_limit ?? 0);
  const limitMb = hardMb > 0 ? hardMb : held.memoryMb;
  const period = config.cpu_cfs_period ?? defaultPeriodUs;
  const share = held.cpuMhz / Math.max(1, processor.totalMhz);
  return {
    CpuShares: Math.max(leastShares, held.cpuMhz),
    Memory: limitMb * mebibyte,
    // The same limit with swap means no swap.
    MemorySwap: limitMb * mebibyte,
    ...(limitMb > held.memoryMb && { MemoryReservation: held.memoryMb * mebibyte }),
    ...(held.cores.length > 0 && { CpusetCpus: held.cores.join(',') }),
    ...(config.cpu_hard_limit === true && {
      CpuPeriod: period,
      CpuQuota: Math.max(1000, Math.round(share * processor.cores * period)),
    }),
  };
}

const ulimits = (config: DockerConfig) =>
  Object.entries(asBlock(config.ulimit) as Record<string, string>).map(([Name, limit]) => {
    const { soft: Soft, hard: Hard } = parseUlimit(limit)!;
    return { Name, Soft, Hard };
  });

const devices = (config: DockerConfig) =>
  asBlocks(config.devices).map((device) => ({
    PathOnHost: device.host_path,
    PathInContainer: device.container_path ?? device.host_path,
    CgroupPermissions: device.cgroup_permissions ?? 'rwm',
  }));

/** Log drivers whose output can be read back. */
const readable = new Set(['json-file', 'local', 'journald', 'k8s-file']);

/** Whether the task's output is collected into its log files. */
export function collectsLogs({ logs }: DriverTask, config: DockerConfig): boolean {
  const { type, driver } = asBlock(config.logging);
  const name = type ?? driver;
  return !logs.disabled && (name === undefined || readable.has(name));
}

function logConfig(config: DockerConfig, isCollected: boolean, runtime: 'docker' | 'podman') {
  const { type, driver, config: options } = asBlock(config.logging);
  const name = type ?? driver;
  if (name !== undefined || options !== undefined) {
    return { Type: name ?? 'json-file', Config: asBlock(options) as Record<string, string> };
  }
  if (!isCollected) return { Type: 'none', Config: {} };
  const { logBufferMb } = limits.docker;
  // Podman truncates its only file and so loses all of it; Docker removes the oldest of several.
  return runtime === 'podman'
    ? { Type: 'json-file', Config: { 'max-size': `${logBufferMb}m` } }
    : { Type: 'json-file', Config: { 'max-size': `${logBufferMb / 5}m`, 'max-file': '5' } };
}

/** By port and protocol; `undefined` if the task has no network of its own. */
function publishedPorts(task: DriverTask, config: DockerConfig): PortMap | undefined {
  const labels = config.ports ?? [];
  const mode = config.network_mode ?? '';
  const unknown = labels.filter((label) => !task.ports.some((port) => port.label === label));
  if (unknown.length > 0) {
    const known = task.ports.map(({ label }) => label).join(', ') || 'none';
    throw new DriverFailure(
      `Config.ports names ${unknown.join(', ')}, which the group does not have; it has ${known}`,
      false,
    );
  }
  if (labels.length === 0 || /^(host|none|container:.*|ns:.*)$/.test(mode)) return undefined;
  const published: PortMap = {};
  for (const { label, value, to, hostIp } of task.ports) {
    if (!labels.includes(label)) continue;
    for (const protocol of ['tcp', 'udp']) {
      const inside = `${to > 0 ? to : value}/${protocol}`;
      const before = published[inside] ?? [];
      published[inside] = [
        ...(before as object[]),
        { HostIp: hostIp, HostPort: String(value) },
      ] as never;
    }
  }
  return published;
}
