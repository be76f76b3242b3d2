import { realpath } from 'node:fs/promises';
import { basename, isAbsolute, join, resolve, sep } from 'node:path';
import type { MountSettings } from 'dockerode';
import { allDefences, type Defences } from '../../defences.ts';
import { DriverFailure, type DriverTask } from '../driver.ts';
import { asBlock, asBlocks, type DockerConfig, type MountConfig } from './config.ts';
import { parseBind } from './config-checks.ts';
import type { DockerSettings } from './settings.ts';

/**
 * The task's own directories, as every isolated task sees them.
 * Source: docs/behaviour/client.md#directories.
 */
export const ownMounts = (
  { directories }: DriverTask,
  { logsOutOfReach }: Defences = allDefences,
): MountSettings[] => [
  { Type: 'bind', Source: directories.shared, Target: '/alloc' },
  // Mounted over the directory above, so that it can be neither written nor moved.
  { Type: 'bind', Source: directories.logs, Target: '/alloc/logs', ReadOnly: logsOutOfReach },
  { Type: 'bind', Source: directories.local, Target: '/local' },
  { Type: 'bind', Source: directories.secrets, Target: '/secrets' },
];

const propagationOf = {
  private: undefined,
  'host-to-task': 'rslave',
  bidirectional: 'rshared',
} as const;

/** The node's volumes. Those with an SELinux label need the older form of `Binds`. */
export const offeredMounts = ({ volumes = [] }: Pick<DriverTask, 'volumes'>): MountSettings[] =>
  volumes
    .filter(({ seLinuxLabel }) => seLinuxLabel === '')
    .map(({ source, destination, isReadOnly, propagation }) =>
      bindMount(source, destination, isReadOnly, propagationOf[propagation]),
    );

/** `undefined` when there are none. @throws DriverFailure for a path that `Binds` cannot express */
export function labelledBinds({ volumes = [] }: Pick<DriverTask, 'volumes'>): string[] | undefined {
  const labelled = volumes.filter(({ seLinuxLabel }) => seLinuxLabel !== '');
  if (labelled.length === 0) return undefined;
  return labelled.map(({ name, source, destination, isReadOnly, propagation, seLinuxLabel }) => {
    if (`${source}${destination}`.includes(':')) {
      throw refused(`the volume "${name}" cannot have a label of SELinux: a path has a ":"`);
    }
    const mode = propagationOf[propagation];
    const options = [isReadOnly ? 'ro' : 'rw', seLinuxLabel, ...(mode === undefined ? [] : [mode])];
    return `${source}:${destination}:${options.join(',')}`;
  });
}

const propagations = ['private', 'rprivate', 'shared', 'rshared', 'slave', 'rslave'] as const;
type Propagation = (typeof propagations)[number];

/**
 * The further mounts that a task asks for. A relative source is in the task's directory. Rejects
 * with {@link DriverFailure} when the node does not allow a source that is outside the allocation,
 * after following links, or a named volume.
 */
export async function askedMounts(
  task: DriverTask,
  config: DockerConfig,
  settings: DockerSettings,
): Promise<MountSettings[]> {
  const place = async (source: string, mount: (real: string) => MountSettings) =>
    guarded(task, mount(await allowedSource(task, source, settings)));
  const binds = (config.volumes ?? []).map(async (bind) => {
    const { source, target, options } = parseBind(bind)!;
    const propagation = propagations.find((name) => options.includes(name));
    return place(source, (real) => bindMount(real, target, options.includes('ro'), propagation));
  });
  const mounts = [...asBlocks(config.mount), ...asBlocks(config.mounts)].map(async (mount) => {
    if (mount.type === 'tmpfs') return [tmpfsMount(mount)];
    if (mount.type !== 'bind') return [volumeMount(mount, settings)];
    if (mount.source === undefined)
      throw refused(`the bind mount at ${mount.target} needs a source`);
    const propagation = asBlock(mount.bind_options).propagation as Propagation | undefined;
    const readOnly = mount.readonly === true;
    return place(mount.source, (real) => bindMount(real, mount.target, readOnly, propagation));
  });
  return (await Promise.all([...binds, ...mounts])).flat();
}

/** Where a mount of the shared directory shows the logs, they are read-only, as in `/alloc`. */
async function guarded({ directories }: DriverTask, mount: MountSettings) {
  const { Source: source, Target: target } = mount;
  const shared = await realpath(directories.shared);
  const name = basename(directories.logs);
  const logs = join(shared, name);
  if (source === logs || source.startsWith(`${logs}${sep}`)) return [{ ...mount, ReadOnly: true }];
  return source === shared
    ? [mount, bindMount(logs, join(target, name), true, undefined)]
    : [mount];
}

const refused = (message: string): DriverFailure => new DriverFailure(message, false);

async function allowedSource(
  { directories, allocId }: DriverTask,
  source: string,
  settings: DockerSettings,
): Promise<string> {
  const path = isAbsolute(source) ? resolve(source) : resolve(directories.root, source);
  const [own, shared, real] = await Promise.all([
    realpath(directories.root),
    realpath(directories.shared),
    realpath(path).catch((error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? 'it does not exist' : error.message;
      throw refused(`"${source}" cannot be mounted: ${why}`);
    }),
  ]);
  const isOf = (root: string) => real === root || real.startsWith(`${root}${sep}`);
  // The path without links is mounted, as a link may lead elsewhere later.
  const isGiven = isOf(own) && real !== own && !isOf(join(own, 'private'));
  if (isGiven || isOf(shared) || settings.allowVolumes === true) return real;
  if (real === own) {
    throw refused(
      `"${source}" is the task's directory itself, in which the agent keeps files of its own: mount local, secrets or tmp`,
    );
  }
  throw refused(
    `"${source}" is outside the task's part of allocation ${allocId}; it can be mounted only on nodes with docker.volumes`,
  );
}

const bindMount = (
  Source: string,
  Target: string,
  ReadOnly: boolean,
  propagation: Propagation | undefined,
): MountSettings => ({
  Type: 'bind',
  Source,
  Target,
  ReadOnly,
  ...(propagation !== undefined && { BindOptions: { Propagation: propagation } }),
});

function tmpfsMount({ target, tmpfs_options: options }: MountConfig): MountSettings {
  const { size, mode } = asBlock(options);
  return {
    Type: 'tmpfs',
    Source: '',
    Target: target,
    ...((size !== undefined || mode !== undefined) && {
      TmpfsOptions: { SizeBytes: size ?? 0, Mode: mode ?? 0o1777 },
    }),
  };
}

function volumeMount(mount: MountConfig, settings: DockerSettings): MountSettings {
  const { source = '', target, readonly = false, volume_options: given } = mount;
  if (settings.allowVolumes !== true) {
    throw refused(`the volume at ${target} can be mounted only on nodes with docker.volumes`);
  }
  const { no_copy: NoCopy = false, labels, driver_config: driver } = asBlock(given);
  const { name: Name = 'local', options } = asBlock(driver);
  const VolumeOptions = {
    NoCopy,
    Labels: asBlock(labels) as Record<string, string>,
    DriverConfig: { Name, Options: asBlock(options) as Record<string, string> },
  };
  return { Type: 'volume', Source: source, Target: target, ReadOnly: readonly, VolumeOptions };
}
