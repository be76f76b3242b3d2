/** Capabilities of root, each of which would open a way out. */
import type { Attempt } from '../attempt.ts';
import { end, hasCapability } from './words.ts';

/** By their numbers. Source: capabilities(7). */
const numbered = {
  dac_read_search: 2,
  net_admin: 12,
  sys_module: 16,
  sys_rawio: 17,
  sys_ptrace: 19,
  sys_admin: 21,
  sys_boot: 22,
  sys_time: 25,
  syslog: 34,
  perfmon: 38,
  bpf: 39,
};

export const capabilityAttempts: readonly Attempt[] = Object.entries(numbered).map(
  ([capability, number]): Attempt => ({
    name: `to be given the capability ${capability}`,
    drivers: ['exec', 'docker'],
    agents: ['root'],
    refusal: /cap_add/,
    counter: { operator: 'reckless' },
    plan: () => ({
      config: { cap_add: [capability] },
      script: `${hasCapability(number)}; ${end}`,
    }),
  }),
);
