/**
 * The memory of another allocation's task, if both see all processes; and files by their handles.
 */
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { type Attempt, success } from '../attempt.ts';
import { end, perl } from './words.ts';

/** The error 1 is a refusal; any other comes after the check of rights. */
const isLetThrough = `print "${success}\\n" if $r >= 0 or $!+0 != 1`;
/** The fields of an iovec: its address and its length. */
const nowhere = 'my $w = pack("QQ", 16, 1)';

const seeing = {
  drivers: ['exec'],
  agents: ['root'],
  operator: 'lenient',
  counter: { without: ['ownUsers', 'userNamespaces'] },
} as const;

export const memoryAttempts: readonly Attempt[] = [
  {
    name: 'to read the memory of a neighbour',
    ...seeing,
    // Reads all of its stack, which has its variables.
    plan: ({ neighbour: { pid } }) => ({
      config: { pid_mode: 'host' },
      script: `${perl(`open(my $m, "<", "/proc/${pid}/maps"); my ($s) = grep { /stack/ } <$m>; my ($a, $e) = $s =~ /^(\\w+)-(\\w+)/; my ($f, $n) = (hex($a), hex($e) - hex($a)); my $b = "\\0" x ($n || 1); ${nowhere}; $w = pack("QQ", $f, $n) if $s; my $i = pack("QQ", unpack("Q", pack("P", $b)), $n || 1); my $r = syscall(310, ${pid}, $i, 1, $w, 1, 0); print $b =~ /(NEIGHBOUR_SECRET=[^\\0]*)/; ${isLetThrough} and not $s`)}; ${end}`,
    }),
  },
  {
    name: 'to write to the memory of a neighbour',
    ...seeing,
    // Writes to an unmapped address, which is harmless if it is allowed.
    plan: ({ neighbour: { pid } }) => ({
      config: { pid_mode: 'host' },
      script: `${perl(`my $b = "x"; ${nowhere}; my $i = pack("QQ", unpack("Q", pack("P", $b)), 1); my $r = syscall(311, ${pid}, $i, 1, $w, 1, 0); ${isLetThrough}`)}; ${end}`,
    }),
  },
  {
    name: 'to open a file of the agent by its handle',
    drivers: ['exec', 'docker'],
    agents: ['root'],
    refusal: /cap_add/,
    counter: { operator: 'reckless' },
    plan: ({ canary }) => ({
      config: { cap_add: ['dac_read_search'] },
      script: `${perl(`open(my $d, "<", "/alloc/data/."); my $h = pack("H*", "${handleOf(canary)}"); my $fd = syscall(304, fileno($d), $h, 0); open(my $f, "<&=", $fd); print <$f>`)}; ${end}`,
    }),
  },
];

/** The file's handle in hexadecimal. It belongs to the file system of the data directories. */
function handleOf(path: string): string {
  const ask = `my $h = pack("LL", 128, 0) . "\\0" x 128; my $m = pack("L", 0); syscall(303, -100, my $p = "${path}", $h, $m, 0) == 0 or die $!; print unpack("H*", substr($h, 0, 8 + unpack("L", $h)))`;
  return execFileSync('perl', ['-e', ask], { encoding: 'utf8', cwd: dirname(path) });
}
