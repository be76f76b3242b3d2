/**
 * Resources that tasks in sandboxes share with the machine and with each other. No defence is
 * promised here.
 */
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { findSystemUser } from '../../../src/node/system-user.ts';
import { type Opening, success } from '../attempt.ts';
import { plainUser } from '../plain-user.ts';
import { end, got, opens, perl } from './words.ts';

const exec = { drivers: ['exec'] } as const;
const ofRoot = { ...exec, agents: ['root'] } as const;

/** Prints success if the call is not refused (1). */
const isLetThrough = (number: number, args: string): string =>
  perl(`print "${success}\\n" if syscall(${number}, ${args}) >= 0 or $!+0 != 1`);

export const openings: readonly Opening[] = [
  {
    name: 'a task reaches what a neighbour listens on at an abstract socket',
    ...exec,
    plan: ({ neighbour }) => ({
      script: `${perl(`socket(S, 1, 1, 0); connect(S, pack("Sa*", 1, "\\0" . "${neighbour.id}")) or die "$!"; print <S>`)}; ${end}`,
    }),
  },
  {
    name: 'a task reaches what listens on loopback',
    ...exec,
    plan: ({ url }) => ({
      script: `${perl(`socket(S, 2, 1, 0); connect(S, pack("Sna4x8", 2, ${new URL(url).port}, "\\x7f\\0\\0\\1")) or die "$!"; print "${success}\\n"`)}; ${end}`,
    }),
  },
  {
    name: 'a task knows the name of the machine',
    ...exec,
    plan: () => ({
      script: `grep -qx '${hostname()}' /proc/sys/kernel/hostname && ${got}; ${end}`,
    }),
  },
  {
    name: 'a task reads what the kernel tells of devices',
    ...exec,
    plan: () => ({ script: `${opens('/sys/kernel/uevent_seqnum')}; ${end}` }),
  },
  {
    name: 'a task reads what the kernel tells everybody of the machine',
    ...exec,
    plan: () => ({ script: `grep -q MemTotal /proc/meminfo && ${got}; ${end}` }),
  },
  {
    name: 'a task may call for a debugger',
    ...exec,
    plan: () => ({ script: `${isLetThrough(101, '0, 0, 0, 0')}; ${end}` }),
  },
  {
    name: 'a task may name a file by a handle',
    ...exec,
    plan: () => ({ script: `${isLetThrough(303, '-1, 0, 0, 0, 0')}; ${end}` }),
  },
  {
    name: 'a task is the same user as all others of an agent that is not root',
    ...exec,
    agents: ['plain'],
    plan: () => ({
      script: `test "$(id -u)" = ${findSystemUser(plainUser)!.uid} && ${got}; ${end}`,
    }),
  },
  {
    name: 'a task with a capability is in the user namespace of the machine',
    ...ofRoot,
    plan: () => ({
      config: { cap_add: ['net_bind_service'] },
      script: `ls -l /proc/self/ns/user | grep -qF '${readlinkSync('/proc/self/ns/user')}' && ${got}; ${end}`,
    }),
  },
  {
    name: 'a task that is root and sees all processes signals those of root',
    ...ofRoot,
    operator: 'lenient',
    plan: ({ agentPid }) => ({
      config: { pid_mode: 'host' },
      task: { User: 'root' },
      script: `kill -0 ${agentPid} && ${got}; ${end}`,
    }),
  },
];
