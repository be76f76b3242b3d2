/** Other processes: to see, read, signal and trace them, and to use shared memory. */
import { execFileSync } from 'node:child_process';
import { type Attempt, success } from '../attempt.ts';
import { end, got, perl } from './words.ts';

const host = { pid_mode: 'host' };

/** For nodes whose operator lets tasks see all processes, and be root. */
const seeing = { drivers: ['exec'], agents: ['root'], operator: 'lenient' } as const;

const seen: readonly Attempt[] = [
  {
    name: 'to reach the files of the machine through the process that keeps its sandbox',
    ...seeing,
    counter: { without: ['userNamespaces'] },
    plan: ({ canary }) => ({
      config: host,
      task: { User: 'root' },
      script: `for p in /proc/[0-9]*; do cat $p/root${canary} 2>/dev/null; done; ${end}`,
    }),
  },
  {
    name: 'to read the variables of a neighbour',
    ...seeing,
    counter: { without: ['ownUsers', 'userNamespaces'] },
    plan: ({ neighbour }) => ({
      config: host,
      script: `cat /proc/${neighbour.pid}/environ; ${end}`,
    }),
  },
  {
    name: 'to read the files of a neighbour through its root directory',
    ...seeing,
    counter: { without: ['ownUsers', 'userNamespaces'] },
    plan: ({ neighbour }) => ({
      config: host,
      script: `cat /proc/${neighbour.pid}/root/local/s; ${end}`,
    }),
  },
  {
    name: 'to trace a neighbour',
    ...seeing,
    counter: { without: ['ownUsers', 'userNamespaces'] },
    // PTRACE_SEIZE does not stop the process; the end of the tracer releases it.
    plan: ({ neighbour }) => ({
      config: host,
      script: `${perl(`print "${success}\\n" if syscall(101, 0x4206, ${neighbour.pid}, 0, 0) == 0`)}; ${end}`,
    }),
  },
];

export const processAttempts: readonly Attempt[] = [
  ...seen,
  {
    name: 'to use a descriptor that the agent was started with',
    drivers: ['exec', 'docker'],
    counter: 'outside',
    plan: () => ({ script: `ls -l /proc/self/fd | grep -q inherited && ${got}; ${end}` }),
  },
  {
    name: 'to gain rights by a program that has those of its owner',
    drivers: ['exec'],
    counter: 'outside',
    plan: () => ({ script: `grep -q "NoNewPrivs:.*0" /proc/self/status && ${got}; ${end}` }),
  },
  {
    name: 'to hear what goes over the network of the machine',
    drivers: ['exec'],
    agents: ['root'],
    counter: 'outside',
    plan: () => ({
      script: `${perl(`socket(my $s, 17, 3, 0) and print "${success}\\n"`)}; ${end}`,
    }),
  },
  {
    name: 'to find the agent among the processes that it sees',
    drivers: ['exec'],
    counter: { without: ['ownProcesses'] },
    plan: () => ({ script: `grep -q n[o]de-main /proc/[0-9]*/cmdline && ${got}; ${end}` }),
  },
  {
    name: 'to signal a neighbour',
    drivers: ['exec'],
    counter: { without: ['ownProcesses', 'ownUsers'] },
    plan: ({ neighbour }) => ({ script: `kill -0 ${neighbour.pid} && ${got}; ${end}` }),
  },
  {
    name: 'to be the user whose files are still there',
    drivers: ['exec'],
    agents: ['root'],
    hasLeft: true,
    counter: { without: ['keptUsers'] },
    plan: ({ left }) => ({ script: `test "$(id -u)" = ${left} && ${got}; ${end}` }),
  },
  {
    name: 'to see all processes by the option of the driver',
    drivers: ['exec', 'docker'],
    refusal: /pid_mode/,
    counter: { operator: 'reckless' },
    plan: () => ({
      config: host,
      script: `grep -q n[o]de-main /proc/[0-9]*/cmdline && ${got}; ${end}`,
    }),
  },
  {
    name: 'to share memory with the machine by the option of the driver',
    drivers: ['exec'],
    refusal: /ipc_mode/,
    counter: { operator: 'reckless' },
    plan: () => ({ config: { ipc_mode: 'host' }, ...sharedMemory() }),
  },
  {
    name: 'to share memory with the machine by the option of a container',
    drivers: ['docker'],
    // A plain user's runtime needs /dev/mqueue for it, which not every machine has.
    agents: ['root'],
    refusal: /ipc_mode/,
    counter: { operator: 'reckless' },
    plan: () => ({ config: { ipc_mode: 'host' }, ...sharedMemory() }),
  },
  {
    name: 'to read memory that programs of the machine share',
    drivers: ['exec'],
    counter: { without: ['ownIpc'] },
    plan: sharedMemory,
  },
];

/** A shared memory segment of the machine with a word in it, readable for everybody. */
function sharedMemory() {
  const make = 'my $i = shmget(0, 64, 01666) // die $!; shmwrite($i, "so", 0, 2); print $i';
  const id = execFileSync('perl', ['-e', make], { encoding: 'utf8' });
  return {
    script: `${perl(`my $t; shmread(${id}, $t, 0, 2) and $t eq "so" and print "${success}\\n"`)}; ${end}`,
    hasHappened: () => {
      execFileSync('perl', ['-e', `shmctl(${id}, 0, 0)`]);
      return false;
    },
  };
}
