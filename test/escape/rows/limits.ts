/** Using more than the task's limits. */
import { type Attempt, success } from '../attempt.ts';
import { perl } from './words.ts';

export const limitAttempts: readonly Attempt[] = [
  {
    name: 'to fork more processes than it may have',
    drivers: ['exec', 'docker'],
    agents: ['root'],
    counter: 'outside',
    plan: () => ({
      config: { pids_limit: 20 },
      script: perl(
        `my $n = 0; while ($n < 60) { my $p = fork; last unless defined $p; if (!$p) { sleep 2; exit } $n++ } print $n < 60 ? "tried\\n" : "${success}\\n"`,
      ),
    }),
  },
  {
    name: 'to use more memory than it has',
    drivers: ['exec', 'docker'],
    agents: ['root'],
    refusal: /OOM|137|Signal: 9/,
    counter: 'outside',
    plan: () => ({
      script: perl(
        `my $x = "x" x (1 << 20); my @m = map { $x . $_ } 1 .. 200; print "${success}\\n"`,
      ),
    }),
  },
];
