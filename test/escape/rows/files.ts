/** Files of the machine, of the agent and of others, by their paths. */
import { existsSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { supervisorPaths } from '../../../src/node/supervisor/paths.ts';
import { type Attempt, type Plan, type Prey, success } from '../attempt.ts';
import { end, got, makesDevice, opens, perl } from './words.ts';

/** These fail because the task does not see the file, or sees it read-only. */
const byPath = (name: string, script: Attempt['plan'], more: Partial<Attempt> = {}): Attempt => ({
  name,
  drivers: ['exec', 'docker'],
  counter: 'outside',
  plan: script,
  ...more,
});
const ofRoot = { agents: ['root'] } as const;

export const fileAttempts: readonly Attempt[] = [
  byPath('to read a file of the agent', ({ canary }) => ({ script: `cat ${canary}; ${end}` })),
  byPath('to write a file of the agent', ({ canary }) => ({
    script: `${opens(canary, 'write')}; ${end}`,
  })),
  byPath(
    'to read the hashes of passwords',
    () => ({ script: `grep -q ^root: /etc/shadow && ${got}; ${end}` }),
    ofRoot,
  ),
  byPath('to read the secret by which the node is known', ({ dataDirectory }) => ({
    script: `grep -q SecretID ${dataDirectory}/node/node.json && ${got}; ${end}`,
  })),
  byPath('to list the allocations of the node', ({ dataDirectory, neighbour }) => ({
    script: `ls ${dataDirectory}/node/alloc | grep -q ${neighbour.id} && ${got}; ${end}`,
  })),
  byPath('to read the files of a neighbour, whose allocation it knows', (prey) => ({
    script: `cat ${prey.dataDirectory}/node/alloc/${prey.neighbour.id}/alloc/data/s; ${end}`,
  })),
  byPath('to write among the files of a neighbour', (prey) => {
    const planted = `${prey.dataDirectory}/node/alloc/${prey.neighbour.id}/alloc/data/planted`;
    return { script: `touch ${planted}; ${end}`, hasHappened: () => taken(planted) };
  }),
  byPath('to write a volume that the node gives read-only', ({ dataDirectory }) => {
    const planted = `${dataDirectory}-volume/planted`;
    return {
      group: { Volumes: { gift: { Type: 'host', Source: 'fixed', ReadOnly: true } } },
      task: { VolumeMounts: [{ Volume: 'gift', Destination: '/gift' }] },
      script: `touch /gift/planted ${planted}; ${end}`,
      hasHappened: () => taken(planted),
    };
  }),
  {
    name: 'to mount a directory of the machine that the node does not give as a volume',
    drivers: ['exec', 'docker'],
    refusal: /placed nowhere/,
    counter: { operator: 'reckless' },
    plan: ({ canary }) => ({
      group: { Volumes: { gift: { Type: 'host', Source: 'machine', ReadOnly: true } } },
      task: { VolumeMounts: [{ Volume: 'gift', Destination: '/gift' }] },
      script: `test -e /gift/${basename(dirname(canary))} && ${got}; ${end}`,
    }),
  },
  {
    name: 'to have a directory of the machine as a volume by a source that is ".."',
    drivers: ['exec', 'docker'],
    refusal: /Volumes\.gift\.Source must not be \\"\.\\" or \\"\.\.\\"/,
    counter: 'outside',
    plan: ({ canary, dataDirectory }) => aboveVolume('..', { canary, dataDirectory }),
  },
  {
    name: 'to have what lies above a volume of the node by a source with ".." in it',
    drivers: ['exec', 'docker'],
    refusal: /placed nowhere/,
    counter: 'outside',
    plan: ({ canary, dataDirectory }) => aboveVolume('fixed/..', { canary, dataDirectory }),
  },
  {
    name: 'to run a program of the machine by a link in its own directory',
    drivers: ['exec', 'docker'],
    refusal: /Exit Code: 1|sandbox could not be made|no such file|not found/i,
    counter: 'outside',
    plan: ({ program }) => ({
      before: `ln -s ${program} /alloc/data/link`,
      config: { command: '/alloc/data/link', args: [] },
      // Outside there is no task before it.
      script: `ln -s ${program} ${program}-link; ${program}-link; ${end}`,
    }),
  },
  byPath(
    'to change a program of the system',
    () => ({
      script: `${opens('/usr/bin/env', 'write')}; ${end}`,
    }),
    ofRoot,
  ),
  byPath('to speak to the supervisor over its socket', ({ dataDirectory }) => ({
    script: `${connects(supervisorPaths(join(dataDirectory, 'node')).socket)}; ${end}`,
  })),
  byPath('to leave a file in the memory that programs of the machine share', ({ canary }) => {
    const path = `/dev/shm/${canary.replaceAll('/', '-')}`;
    return { script: `touch ${path}; ${end}`, hasHappened: () => taken(path) };
  }),
  byPath('to leave a file in the temporary directory of the machine', ({ canary }) => {
    const path = `/tmp/${canary.replaceAll('/', '-')}`;
    return { script: `touch ${path}; ${end}`, hasHappened: () => taken(path) };
  }),
  byPath(
    'to change a setting of the kernel',
    () => ({
      script: `${opens('/proc/sys/kernel/core_pattern', 'write')}; ${end}`,
    }),
    ofRoot,
  ),
  byPath(
    'to change what the kernel tells of devices',
    () => ({
      script: `${opens('/sys/bus/cpu/drivers_autoprobe', 'write')}; ${end}`,
    }),
    ofRoot,
  ),
  byPath(
    'to read the log of the kernel',
    () => ({ script: `${opens('/dev/kmsg')}; ${end}` }),
    ofRoot,
  ),
  byPath(
    'to read memory or disks by their devices',
    () => ({
      script: `${opens('/dev/mem /dev/port /dev/vd[a-z] /dev/sd[a-z] /dev/nvme* /dev/loop0')}; ${end}`,
    }),
    ofRoot,
  ),
  byPath(
    'to make a device',
    ({ canary }) => {
      const device = `${canary}-device`;
      return {
        script: `cd /alloc/data 2>/dev/null && ${makesDevice('device')}; ${makesDevice(device)}; ${end}`,
        hasHappened: () => taken(device),
      };
    },
    { ...ofRoot, drivers: ['exec'] },
  ),
  byPath(
    'to leave its control group',
    () => ({
      script: `${opens('/sys/fs/cgroup/*/cgroup.procs', 'write')}; ${end}`,
    }),
    ofRoot,
  ),
  byPath(
    'to have the kernel run a program when a control group is empty',
    () => ({
      script: `${opens('/sys/fs/cgroup/*/release_agent /sys/kernel/uevent_helper /proc/sys/kernel/modprobe', 'write')}; ${end}`,
    }),
    ofRoot,
  ),
];

/** The directory that has the volume of the node in it has that of the canary as well. */
function aboveVolume(
  Source: string,
  { canary, dataDirectory }: Pick<Prey, 'canary' | 'dataDirectory'>,
): Plan {
  const inVolume = `${basename(dirname(canary))}/canary`;
  return {
    group: { Volumes: { gift: { Type: 'host', Source, ReadOnly: true } } },
    task: { VolumeMounts: [{ Volume: 'gift', Destination: '/gift' }] },
    script: `cat /gift/${inVolume} ${dataDirectory}-volume/../${inVolume}; ${end}`,
  };
}

/** Removes the file, and returns whether it was there. */
function taken(path: string): boolean {
  const was = existsSync(path);
  rmSync(path, { force: true });
  return was;
}

const connects = (path: string): string =>
  perl(
    `socket(my $s, 1, 1, 0); connect($s, pack("Sa108", 1, "${path}")) and print "${success}\\n"`,
  );
