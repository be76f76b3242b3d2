/** Parts of the attempts' scripts. */
import { success } from '../attempt.ts';

export const got = `echo '${success}'`;
export const end = 'echo tried';

/** Runs a Perl program without single quotes. */
export const perl = (program: string): string => `perl -e '${program}'`;

/** Prints success when one of these can be opened, without reading, writing or making anything. */
export const opens = (paths: string, how: 'read' | 'write' = 'read'): string =>
  `${perl(`for (@ARGV) { sysopen(my $f, $_, ${how === 'read' ? 0 : 1}) and print "${success} $_\\n" }`)} ${paths}`;

/** Makes the character device 1, 11: the kernel's log. */
export const makesDevice = (at: string): string =>
  perl(`print "${success}\\n" if syscall(133, my $p = "${at}", 0020600, 0x10b) == 0`);

/**
 * Prints success if the shell's children have the capability. Source of the numbers:
 * capabilities(7).
 */
export const hasCapability = (number: number): string =>
  perl(
    `open(my $f, "<", "/proc/self/status"); for (<$f>) { print "${success}\\n" if /CapEff:\\s*(\\w+)/ and hex($1) >> ${number} & 1 }`,
  );
/** Tells that the task waits for actions from outside. */
export const ready = ': > /alloc/tmp/ready';
export const waits = 'exec sleep 600';
