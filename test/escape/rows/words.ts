/** Words that scripts of attempts are made of. */
import { success } from '../attempt.ts';

export const got = `echo '${success}'`;
export const end = 'echo tried';

/** The program, which has no single quote in it. */
export const perl = (program: string): string => `perl -e '${program}'`;

/** Success when one of these can be opened so; nothing is read from it, written to it or made. */
export const opens = (paths: string, how: 'read' | 'write' = 'read'): string =>
  `${perl(`for (@ARGV) { sysopen(my $f, $_, ${how === 'read' ? 0 : 1}) and print "${success} $_\\n" }`)} ${paths}`;

/** A character device, 1 and 11: the log of the kernel. */
export const makesDevice = (at: string): string =>
  perl(`print "${success}\\n" if syscall(133, my $p = "${at}", 0020600, 0x10b) == 0`);

/** Success where the shell's children have it. Source of the numbers: capabilities(7). */
export const hasCapability = (number: number): string =>
  perl(
    `open(my $f, "<", "/proc/self/status"); for (<$f>) { print "${success}\\n" if /CapEff:\\s*(\\w+)/ and hex($1) >> ${number} & 1 }`,
  );
/** The task is there, and waits for what is done from outside. */
export const ready = ': > /alloc/tmp/ready';
export const waits = 'exec sleep 600';
