/** Demands of a task in a container. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Attempt } from '../attempt.ts';
import { end, got, hasCapability, makesDevice, opens } from './words.ts';

const asked = (
  name: string,
  plan: Attempt['plan'],
  { refusal, ...more }: Partial<Attempt> & Pick<Attempt, 'refusal'>,
): Attempt => ({
  name,
  drivers: ['docker'],
  counter: { operator: 'reckless' },
  plan,
  ...(refusal !== undefined && { refusal }),
  ...more,
});

const everyPower = `${hasCapability(21)}; ${end}`;

export const containerAttempts: readonly Attempt[] = [
  asked('to run privileged', () => ({ config: { privileged: true }, script: everyPower }), {
    refusal: /docker.allow_privileged/,
  }),
  asked('to have every capability', () => ({ config: { cap_add: ['all'] }, script: everyPower }), {
    refusal: /docker.allow_caps/,
  }),
  asked(
    'to mount the files of the machine',
    ({ canary }) => ({
      config: { volumes: [`${dirname(canary)}:/prey`] },
      script: `cat /prey/canary; ${end}`,
    }),
    { refusal: /docker.volumes/ },
  ),
  asked(
    'to mount the files of the machine by the longer words',
    ({ canary }) => ({
      config: { mounts: [{ type: 'bind', source: dirname(canary), target: '/prey' }] },
      script: `cat /prey/canary; ${end}`,
    }),
    { refusal: /docker.volumes/ },
  ),
  asked(
    'to mount what a path leads to that begins in its own directory',
    ({ canary }) => ({
      config: { volumes: [`local/${'../'.repeat(20)}${dirname(canary).slice(1)}:/prey`] },
      script: `cat /prey/canary; ${end}`,
    }),
    { refusal: /docker.volumes/ },
  ),
  asked(
    'to mount by the longer words what a path leads to that begins in its own directory',
    ({ canary }) => ({
      config: {
        mounts: [
          {
            type: 'bind',
            target: '/prey',
            source: `local/${'../'.repeat(20)}${dirname(canary).slice(1)}`,
          },
        ],
      },
      script: `cat /prey/canary; ${end}`,
    }),
    { refusal: /docker.volumes/ },
  ),
  asked(
    'to mount what a link of another of its tasks leads to',
    ({ canary }) => ({
      config: { volumes: ['../alloc/data/link:/prey'] },
      before: `ln -s ${dirname(canary)} /alloc/data/link`,
      script: `cat /prey/canary; ${end}`,
    }),
    { refusal: /docker.volumes/ },
  ),
  asked(
    'to be given a device of the machine',
    () => ({
      config: { devices: [{ host_path: '/dev/zero', container_path: '/dev/gift' }] },
      script: `${opens('/dev/gift')}; ${end}`,
    }),
    { refusal: /docker.allow_privileged/ },
  ),
  asked(
    'to run without the filter of system calls',
    () => ({
      config: { security_opt: ['seccomp=unconfined'] },
      script: `grep -q "Seccomp:.*0" /proc/self/status && ${got}; ${end}`,
    }),
    { refusal: /docker.allow_privileged/ },
  ),
  asked(
    'to have the runtime write its log to a file of the machine',
    ({ canary }) => {
      const log = `${canary}-log`;
      return {
        config: { logging: { type: 'k8s-file', config: { path: log } } },
        script: `echo planted; ${end}`,
        hasHappened: () => existsSync(log) && readFileSync(log, 'utf8').includes('planted'),
      };
    },
    { refusal: /Config.logging/ },
  ),
  {
    name: 'to make a device in a directory that tasks share',
    drivers: ['docker'],
    // Only root can make devices, with or without the defence.
    agents: ['root'],
    counter: { without: ['noNewDevices'] },
    plan: () => ({ script: `cd /alloc/data; ${makesDevice('device')}; ${end}` }),
  },
];
