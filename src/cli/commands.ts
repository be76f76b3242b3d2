import type { CommandEntry } from './command-entry.ts';
import { accessCommands } from './commands/access.ts';
import { jobCommands } from './commands/jobs.ts';
import { nodeCommands } from './commands/nodes.ts';
import { programCommands } from './commands/program.ts';
import { runningCommands } from './commands/running.ts';
import { settingsCommands } from './commands/settings.ts';

/** The words that stand before commands, and what they are about. */
export const groups: Readonly<Record<string, string>> = {
  job: 'Run, look at and stop jobs.',
  'job periodic': 'Launch jobs that otherwise launch by a schedule.',
  'job policy': 'Say what jobs have to be like.',
  scaling: 'Look at how jobs are scaled.',
  'scaling policy': 'Look at what jobs say about how they are scaled.',
  'job tag': 'Keep versions of jobs under a name.',
  alloc: 'Look at allocations, read their logs, stop and restart them.',
  service: 'Find services, and see how they fare.',
  deployment: 'Look at updates of jobs on their way, and steer them.',
  node: 'Look at the machines that run them, empty them and take them out.',
  'node intro': 'Hand out what brings new nodes in.',
  'node pool': 'Keep nodes apart for the jobs that name them.',
  eval: 'Look at the decisions of the scheduler.',
  event: 'Follow what happens.',
  'acl auth-method': 'Say how people and machines log in.',
  'acl binding-rule': 'Say what a login gives.',
  config: 'Look after configuration entries: what holds for services, gateways and the mesh.',
  intention: 'Find out which services may call each other.',
  var: 'Keep texts that jobs need and nobody else is to see.',
  peering: 'Let clusters find the services of each other.',
  system: 'Look after what is stored.',
  'system reconcile': 'Count anew what is counted along the way.',
  operator: 'Look after the control plane itself.',
  'operator keyring': 'The keys that secrets are sealed under.',
  'operator scheduler': 'How the cluster places.',
  acl: 'Say who may do what.',
  'acl token': 'Hand out and look at tokens.',
  'acl policy': 'Write the rules that tokens are judged by.',
  'acl role': 'Bundle policies under a name.',
  'acl templated-policy': 'Look at the builtin templates of policies.',
  namespace: 'Keep realms of names apart.',
  partition: 'Keep realms of namespaces apart.',
};

/** In the order in which help shows them. */
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
