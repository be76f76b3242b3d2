/**
 * The volumes of the node that a task sees.
 * Source: docs/behaviour/job-specification.md#volume-mounts, #volumes.
 *
 * Invariants
 *  M1. A task sees only volumes that its group asks for and this node offers.
 *  M2. A task cannot write to a volume that the node, the group or the mount calls read-only.
 *  M3. No volume covers the task's own directories or the kernel's (`/proc` …), and none lies in a
 *      directory that tasks share, or in another volume: there a link of another task could
 *      redirect the mount.
 */
import { posix } from 'node:path';
import { allocationIndex } from '../../model/allocation/allocation-rules.ts';
import { quote } from '../../model/path.ts';
import type { VolumeMount } from '../../model/task/files.ts';
import { type HostVolumes, sourceOf } from '../../model/volume/host-volume.ts';
import type { DriverVolume } from '../drivers/driver.ts';
import { interpolate } from '../environment/interpolate.ts';
import * as events from '../task-runner/events.ts';
import { HookFailure, type TaskHookContext, type TaskHookFactory } from './hook.ts';

/** The hook of all tasks of a node that offers these volumes. */
export const volumesHook =
  (offered: HostVolumes = {}): TaskHookFactory =>
  (context) => {
    if ((context.task().VolumeMounts ?? []).length === 0) return undefined;
    let volumes: readonly DriverVolume[] = [];
    return {
      name: 'volumes',
      async beforeStart() {
        volumes = volumesOf(context, offered);
        return undefined;
      },
      volumes: () => volumes,
    };
  };

function volumesOf(context: TaskHookContext, offered: HostVolumes): readonly DriverVolume[] {
  const { driver, task, environment } = context;
  if (driver?.capabilities.fileSystemIsolation === 'none') {
    throw failure(
      `the driver ${driver.name} cannot mount volumes: its tasks see the files of the machine as they are`,
    );
  }
  const { lookup } = environment();
  const found: DriverVolume[] = [];
  for (const mount of task().VolumeMounts ?? []) {
    const volume = volumeOf(context, offered, mount);
    const destination = destinationOf(interpolate(mount.Destination, lookup));
    const other = found.find((one) => overlap(one.destination, destination));
    if (other !== undefined) {
      const both = `${quote(destination)} and ${quote(other.destination)}`;
      throw failure(`two volumes cannot be in one place, or one in the other: ${both}`);
    }
    const { PropagationMode: propagation, SELinuxLabel: seLinuxLabel } = mount;
    found.push({ ...volume, destination, propagation, seLinuxLabel });
  }
  return found;
}

function volumeOf(
  { job, allocation }: TaskHookContext,
  offered: HostVolumes,
  { Volume, ReadOnly }: VolumeMount,
): Pick<DriverVolume, 'name' | 'source' | 'isReadOnly'> {
  const { TaskGroup, Name } = allocation();
  const group = job().TaskGroups.find((one) => one.Name === TaskGroup);
  const asked = group?.Volumes ?? {};
  const request = Object.hasOwn(asked, Volume) ? asked[Volume] : undefined;
  if (request === undefined) throw failure(`the group has no volume ${quote(Volume)}`);
  const name = sourceOf(request, Math.max(0, allocationIndex(Name)));
  const volume = Object.hasOwn(offered, name) ? offered[name] : undefined;
  if (request.Type !== 'host' || volume === undefined) {
    throw failure(`this node has no host volume ${quote(name)}`);
  }
  const isGiven = !volume.ReadOnly || request.ReadOnly;
  if (!isGiven) throw failure(`the host volume ${quote(name)} is read-only on this node`);
  const isReadOnly = volume.ReadOnly || request.ReadOnly || ReadOnly;
  return { name, source: volume.Path, isReadOnly };
}

/** Directories of the kernel, in which no volume may be. */
const kernelPlaces = ['/proc', '/sys', '/dev'];
/** Directories of the task, which no volume may cover. */
const ownPlaces = ['/', '/alloc', '/local', '/secrets', '/tmp'];

/** A relative path begins at the task's root. @throws HookFailure */
function destinationOf(given: string): string {
  const place = posix.resolve('/', given).replace(/(?<=.)\/$/, '');
  const refused = (why: string) => failure(`no volume can be mounted at ${quote(given)}: ${why}`);
  if (given.includes('\0')) throw refused('it is no path');
  if (ownPlaces.includes(place)) throw refused('the task has its own directory there');
  if (place.startsWith('/alloc/')) throw refused('the tasks of the group share that directory');
  if (kernelPlaces.some((one) => place === one || place.startsWith(`${one}/`))) {
    throw refused('the kernel keeps its own files there');
  }
  return place;
}

const overlap = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

const failure = (reason: string): HookFailure =>
  new HookFailure(events.setupFailure(reason), reason, false);
