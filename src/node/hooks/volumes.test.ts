/** The volumes that a task gets, or why not. Invariants: `volumes.ts`. */
import { expect, test } from 'vitest';
import { complete } from '../../model/complete.ts';
import type { Job } from '../../model/job/job.ts';
import type { Input } from '../../model/schema.ts';
import { type VolumeMount, VolumeMountSchema } from '../../model/task/files.ts';
import { type VolumeRequest, VolumeRequestSchema } from '../../model/volume/volume.ts';
import type { Driver } from '../drivers/driver.ts';
import { testAllocation, testJob } from '../records.test-helper.ts';
import { HookFailure, type TaskHookContext } from './hook.ts';
import { volumesHook } from './volumes.ts';

const offered = {
  data: { Path: '/srv/data', ReadOnly: false },
  fixed: { Path: '/srv/fixed', ReadOnly: true },
  'own[2]': { Path: '/srv/own2', ReadOnly: false },
};

interface Wish {
  readonly volume?: Input<VolumeRequest>;
  readonly mounts?: readonly Input<VolumeMount>[];
  readonly isolation?: 'none' | 'chroot' | 'image';
}

async function volumesFor({ volume, mounts = [{}], isolation = 'chroot' }: Wish) {
  const request = complete(VolumeRequestSchema, { Type: 'host', Source: 'data', ...volume });
  const base = testJob([{ Name: 'app' }]);
  const [group] = base.TaskGroups;
  const job: Job = { ...base, TaskGroups: [{ ...group!, Volumes: { d: request } }] };
  const VolumeMounts = mounts.map((mount) =>
    complete(VolumeMountSchema, { Volume: 'd', Destination: '/data', ...mount }),
  );
  const context = {
    driver: { name: 'some', capabilities: { fileSystemIsolation: isolation } } as Driver,
    job: () => job,
    allocation: () => testAllocation(),
    task: () => ({ ...group!.Tasks[0]!, VolumeMounts }),
    environment: () => ({
      variables: {},
      lookup: (name: string) => (name === 'PLACE' ? '/local' : undefined),
    }),
  } as unknown as TaskHookContext;
  const hook = volumesHook(offered)(context)!;
  await hook.beforeStart?.();
  return hook.volumes?.();
}

test.each<[string, Wish, object]>([
  ['as it is offered', {}, { name: 'data', source: '/srv/data', isReadOnly: false }],
  ['read-only for the group', { volume: { ReadOnly: true } }, { isReadOnly: true }],
  ['read-only for the task', { mounts: [{ ReadOnly: true }] }, { isReadOnly: true }],
  [
    'read-only on the node',
    { volume: { Source: 'fixed', ReadOnly: true } },
    { source: '/srv/fixed', isReadOnly: true },
  ],
  ['of its own', { volume: { Source: 'own', PerAlloc: true } }, { source: '/srv/own2' }],
  ['at a relative place', { mounts: [{ Destination: 'a/../b/' }] }, { destination: '/b' }],
  ['beneath the root only', { mounts: [{ Destination: '../../x' }] }, { destination: '/x' }],
  [
    'where a variable says',
    { mounts: [{ Destination: '${PLACE}/d' }] },
    { destination: '/local/d' },
  ],
  [
    'with its options for mounts and labels',
    { mounts: [{ PropagationMode: 'host-to-task', SELinuxLabel: 'z' }], isolation: 'image' },
    { propagation: 'host-to-task', seLinuxLabel: 'z' },
  ],
])('a volume %s', async (_, wish, expected) => {
  expect(await volumesFor(wish)).toMatchObject([expected]);
});

const at = (Destination: string): Wish => ({ mounts: [{ Destination }] });

test.each<[string, Wish, string | RegExp]>([
  ['without isolation', { isolation: 'none' }, /^the driver some cannot mount volumes: /],
  ['that the group has not', { mounts: [{ Volume: 'x' }] }, 'the group has no volume "x"'],
  ['that the node has not', { volume: { Source: 'x' } }, 'this node has no host volume "x"'],
  [
    'that another allocation has',
    { volume: { Source: 'data', PerAlloc: true } },
    'this node has no host volume "data[2]"',
  ],
  [
    'to write that is to be read',
    { volume: { Source: 'fixed' } },
    'the host volume "fixed" is read-only on this node',
  ],
  ...['/', '..', '/alloc', 'local/', '/secrets/.', '/tmp'].map((place): [string, Wish, RegExp] => [
    `at ${place}`,
    at(place),
    /its own directory there$/,
  ]),
  ['among what tasks share', at('/alloc/data/x'), /the tasks of the group share that directory$/],
  ...['/proc', '/sys/x', '/dev/shm', '/data/../proc/1'].map((place): [string, Wish, RegExp] => [
    `at ${place}`,
    at(place),
    /the kernel keeps its own files there$/,
  ]),
  ['at an invalid path', at('/a\0b'), /it is no path$/],
  [
    'in another',
    { mounts: [{}, { Destination: '/data/below' }] },
    'two volumes cannot be in one place, or one in the other: "/data/below" and "/data"',
  ],
])('no volume %s', async (_, wish, message) => {
  const failure = await volumesFor(wish).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(HookFailure);
  expect(failure).toMatchObject({ recoverable: false });
  expect((failure as HookFailure).message).toMatch(message);
  expect((failure as HookFailure).event(0)).toMatchObject({ Type: 'Setup Failure' });
});
