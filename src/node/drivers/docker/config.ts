/** The `Config` of a task of this driver, with its published names. */
import type { Fault } from '../../../model/errors.ts';
import {
  type ConfigFields,
  type ConfigOf,
  configFaults,
  duration,
  flag,
  text,
  textList,
  whole,
} from '../config.ts';
import * as check from './config-checks.ts';
import { capabilityName, type DockerSettings, defaultCapabilities } from './settings.ts';

const mountFields = {
  /** Default: `volume`. */
  type: { check: check.oneOf('bind', 'volume', 'tmpfs') },
  source: { check: text },
  target: { required: true, check: check.absolutePath },
  readonly: { check: flag },
  bind_options: {
    check: check.block({
      propagation: {
        check: check.oneOf('private', 'rprivate', 'shared', 'rshared', 'slave', 'rslave'),
      },
    }),
  },
  volume_options: {
    check: check.block({
      no_copy: { check: flag },
      labels: { check: check.textMap },
      driver_config: {
        check: check.block({ name: { check: text }, options: { check: check.textMap } }),
      },
    }),
  },
  tmpfs_options: {
    check: check.block({ size: { check: check.natural }, mode: { check: check.natural } }),
  },
} as const satisfies ConfigFields;
export type MountConfig = ConfigOf<typeof mountFields>;

const fields = {
  image: { required: true, check: check.image },
  command: { check: text },
  args: { check: textList },
  entrypoint: { check: check.textOrList },
  ports: { check: textList },
  network_mode: { check: text },
  network_aliases: { check: textList },
  volumes: { check: check.binds },
  mount: { check: check.blocks(mountFields) },
  mounts: { check: check.blocks(mountFields) },
  work_dir: { check: check.absolutePath },
  labels: { check: check.textMap },
  auth: {
    check: check.block({
      username: { check: text },
      password: { check: text },
      email: { check: text },
      server_address: { check: text },
    }),
  },
  force_pull: { check: flag },
  image_pull_timeout: { check: duration },
  privileged: { check: flag },
  cap_add: { check: textList },
  cap_drop: { check: textList },
  group_add: { check: textList },
  extra_hosts: { check: check.extraHosts },
  dns_servers: { check: textList },
  dns_search_domains: { check: textList },
  dns_options: { check: textList },
  hostname: { check: text },
  init: { check: flag },
  interactive: { check: flag },
  tty: { check: flag },
  readonly_rootfs: { check: flag },
  shm_size: { check: check.natural },
  ulimit: { check: check.ulimits },
  sysctl: { check: check.textMap },
  security_opt: { check: textList },
  devices: {
    check: check.blocks({
      host_path: { required: true, check: check.absolutePath },
      container_path: { check: check.absolutePath },
      cgroup_permissions: { check: check.devicePermissions },
    }),
  },
  logging: {
    check: check.block({
      type: { check: text },
      driver: { check: text },
      config: { check: check.textMap },
    }),
  },
  pids_limit: { check: whole },
  cpu_hard_limit: { check: flag },
  cpu_cfs_period: { check: check.cfsPeriod },
  memory_hard_limit: { check: check.natural },
  ipc_mode: { check: text },
  pid_mode: { check: text },
  runtime: { check: text },
} as const satisfies ConfigFields;
export type DockerConfig = ConfigOf<typeof fields>;

/** All faults of a task's `Config`, including those against the node's settings. */
export function dockerConfigFaults(
  config: Readonly<Record<string, unknown>>,
  settings: DockerSettings,
): readonly Fault[] {
  const faults = configFaults(config, fields);
  const wrong = new Set(faults.map(({ pointer }) => pointer));
  const told = forbidden(
    config as unknown as DockerConfig,
    settings,
    (name) => !wrong.has(`/${name}`),
  );
  return [...faults, ...told];
}

/** The fields that the node's operator does not allow. */
function forbidden(
  config: DockerConfig,
  settings: DockerSettings,
  isSound: (name: string) => boolean,
): Fault[] {
  const faults: Fault[] = [];
  const refuse = (name: keyof DockerConfig, because: string): void => {
    faults.push({ pointer: `/${name}`, message: `Config.${name} ${because}` });
  };
  const onlyPrivileged = 'is allowed only on nodes with docker.allow_privileged';
  if (settings.allowPrivileged !== true) {
    if (config.privileged === true) refuse('privileged', onlyPrivileged);
    for (const name of ['ipc_mode', 'pid_mode', 'network_mode'] as const) {
      const value = config[name];
      if (typeof value !== 'string') continue;
      const leavesItsOwn =
        value.startsWith('container:') ||
        value.startsWith('ns:') ||
        (value === 'host' && name !== 'network_mode');
      if (leavesItsOwn) refuse(name, `"${value}" ${onlyPrivileged}`);
    }
    if (isSound('devices') && asBlocks(config.devices).length > 0)
      refuse('devices', onlyPrivileged);
    const loosened = isSound('security_opt')
      ? (config.security_opt ?? []).filter(
          (option) => !/^no-new-privileges(:true|=true)?$/.test(option),
        )
      : [];
    if (loosened.length > 0) refuse('security_opt', `"${loosened.join('", "')}" ${onlyPrivileged}`);
    // Docker takes a path here as the program that makes the container, and runs it as root.
    if (isSound('runtime') && config.runtime?.includes('/')) refuse('runtime', onlyPrivileged);
  }
  const files = isSound('logging') ? filesOfLogging(config) : [];
  if (settings.allowVolumes !== true && files.length > 0) {
    const names = files.join(', ');
    refuse('logging', `names files of the machine (${names}), which takes docker.volumes`);
  }
  const allowed = new Set(
    (settings.allowedCapabilities ?? defaultCapabilities).map(capabilityName),
  );
  const added = isSound('cap_add') ? (config.cap_add ?? []).map(capabilityName) : [];
  const refused = allowed.has('ALL') ? [] : added.filter((name) => !allowed.has(name));
  if (refused.length > 0) {
    refuse(
      'cap_add',
      `has ${refused.join(', ')}, which docker.allow_caps of this node does not list`,
    );
  }
  return faults;
}

/** Options of the log driver that make the runtime, which is root, access a path. */
function filesOfLogging({ logging }: DockerConfig): string[] {
  const options = Object.entries(asBlock(asBlock(logging).config) as Record<string, string>);
  return options
    .filter(([name, value]) => name === 'path' || /^(\/|unix(gram)?:|file:)/.test(value))
    .map(([name]) => name);
}

export function asBlocks<T>(given: check.Block<T> | undefined): readonly T[] {
  if (given === undefined || given === null) return [];
  return Array.isArray(given) ? (given as readonly T[]) : [given as T];
}

/** A single block; several are merged, and later fields win. */
export const asBlock = <T extends object>(given: check.Block<T> | undefined): Partial<T> =>
  Object.assign({}, ...asBlocks(given));
