/** System calls that expose more of the kernel than programs need; denied to every user. */
import { type Attempt, success } from '../attempt.ts';
import { end, perl } from './words.ts';

/** Name, number on x86-64, and arguments with which an allowed call is useless and harmless. */
const calls: readonly (readonly [name: string, number: number, args: string])[] = [
  ['unshare, for users of its own', 272, '0x10000000'],
  ['add_key', 248, '0, 0, 0, 0, 0'],
  ['request_key', 249, '0, 0, 0, 0'],
  ['keyctl', 250, '99'],
  ['userfaultfd', 323, '1'],
  ['perf_event_open', 298, '0, 0, -1, -1, 0'],
  ['io_uring_setup', 425, '0, 0'],
  ['mount', 165, '0, 0, 0, 0, 0'],
  ['kcmp', 312, '$$, $$, 99, 0, 0'],
  ['quotactl', 179, '0, 0, 0, 0'],
  ['fanotify_init', 300, '0x200, 0'],
  ['setns', 308, '-1, 0'],
  ['personality, for another machine', 135, '0x0400000'],
  ['a socket to the host of the machine', 41, '40, 1, 0'],
  ['ioctl, to type into a terminal', 16, '0, 0x5412, 0'],
  ['ioctl, to paste into a terminal', 16, '0, 0x541c, 0'],
  ['pidfd_getfd', 438, '-1, 0, 0'],
  ['vmsplice', 278, '-1, 0, 0, 0'],
  ['clone, for users of its own', 56, '0x10000011, 0, 0, 0, 0'],
];

export const systemCallAttempts: readonly Attempt[] = calls.map(
  ([name, number, args]): Attempt => ({
    name: `the system call ${name}`,
    drivers: ['exec'],
    counter: { without: ['systemCalls'] },
    plan: () => ({ script: `${reaches(number, args)}; ${end}` }),
  }),
);

/**
 * Prints success unless the call is denied (1), unknown (38) or unsupported (97). A child of clone
 * ends at once.
 */
const reaches = (number: number, args: string): string =>
  perl(
    `my $r = syscall(${number}, ${args}); exit 0 if ${number} == 56 and $r == 0; my $e = $!+0; print "${success}: $r $e\\n" unless $r < 0 and grep { $_ == $e } 1, 38, 97`,
  );
