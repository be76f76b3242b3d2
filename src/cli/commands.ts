import type { CommandEntry } from './command-entry.ts';
import { accessCommands } from './commands/access.ts';
import { jobCommands } from './commands/jobs.ts';
import { nodeCommands } from './commands/nodes.ts';
import { programCommands } from './commands/program.ts';
import { runningCommands } from './commands/running.ts';
import { settingsCommands } from './commands/settings.ts';

/** The groups of commands, with their descriptions. */
export const groups: Readonly<Record<string, string>> = {
  job: 'Run, look at and stop jobs.',
  'job periodic': 'Launch periodic jobs by hand.',
  'job policy': 'Manage rules that jobs have to satisfy.',
  scaling: 'Look at how jobs are scaled.',
  'scaling policy': 'Look at the scaling policies of jobs.',
  'job tag': 'Keep versions of jobs under a name.',
  alloc: 'Look at allocations, read their logs, stop and restart them.',
  service: 'Find services, and show their status.',
  deployment: 'Look at the updates of jobs, and control them.',
  node: 'Look at machines, drain them and remove them.',
  'node intro': 'Manage the tokens that admit new nodes.',
  'node pool': 'Reserve nodes for the jobs that name their pool.',
  eval: 'Look at the decisions of the scheduler.',
  event: 'Follow events.',
  'acl auth-method': 'Say how people and machines log in.',
  'acl binding-rule': 'Say which rights a login gives.',
  config: 'Manage configuration entries of services, gateways and the mesh.',
  intention: 'Find out which services may call each other.',
  var: 'Manage variables, the secrets of jobs.',
  peering: 'Let clusters find the services of each other.',
  system: 'Maintain the stored state.',
  'system reconcile': 'Compute counters again.',
  server: 'Look at the servers of the cluster.',
  operator: 'Maintain the control plane itself.',
  'operator keyring': 'Manage the keys that seal secrets.',
  'operator scheduler': 'Configure the placement of the cluster.',
  acl: 'Say who may do what.',
  'acl token': 'Make and look at tokens.',
  'acl policy': 'Manage the rules of tokens.',
  'acl role': 'Bundle policies under a name.',
  'acl templated-policy': 'Look at the builtin templated policies.',
  namespace: 'Manage namespaces.',
  partition: 'Manage partitions, which separate namespaces.',
};

/** The commands, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    words: ['agent'],
    summary: 'Start an agent: server and node in one process.',
    load: async () => (await import('./agent/agent.ts')).agent,
  },
  ...jobCommands,
  ...runningCommands,
  ...nodeCommands,
  ...settingsCommands,
  ...accessCommands,
  ...programCommands,
];
