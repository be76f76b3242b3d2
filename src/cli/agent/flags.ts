/** The flags of `roster agent`. Each has an environment variable too (`variables.ts`). */
import { logLevels } from '../../model/monitor/log-level.ts';
import type { OptionDefinition } from '../definition.ts';
import { engineWords } from './engine-settings.ts';
import { type SettingName, tasksOnExitWords } from './settings.ts';

export type Flag = OptionDefinition & {
  readonly setting?: SettingName;
  /** The flag takes a list, separated by commas. */
  readonly isList?: boolean;
  /** The flag takes `true` or `false`, since its setting is `true` by default. */
  readonly isSwitch?: boolean;
};

/** Words for `true` and `false`. */
export const switchWords: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

export const flags: readonly Flag[] = [
  { name: 'dev', setting: 'dev', description: 'Make a root token and print it; store nothing.' },
  {
    name: 'config',
    value: 'PATH',
    isRepeatable: true,
    completes: 'file',
    description: 'Configuration file or directory, in HCL or JSON; may be repeated.',
  },
  {
    name: 'http',
    setting: 'http',
    value: 'HOST:PORT',
    description: 'Where to listen (127.0.0.1:4720).',
  },
  {
    name: 'allowed-hosts',
    setting: 'http.allowed_hosts',
    value: 'NAME,NAME',
    isList: true,
    description: 'Host names that browsers may use, besides its own.',
  },
  {
    name: 'ui',
    setting: 'ui.enabled',
    value: 'WORD',
    isSwitch: true,
    choices: ['true', 'false'],
    description: 'Whether the web interface is served below /ui/ (true).',
  },
  {
    name: 'ui-label',
    setting: 'ui.label',
    value: 'TEXT',
    description: 'Name of the environment in the web interface, such as "production".',
  },
  {
    name: 'ui-color',
    setting: 'ui.color',
    value: '#RRGGBB',
    description: 'Colour of --ui-label.',
  },
  {
    name: 'server-only',
    setting: 'server_only',
    description: 'A server alone: no tasks run on this machine.',
  },
  {
    name: 'servers',
    setting: 'servers',
    value: 'URL,URL',
    isList: true,
    description: 'A node alone, which joins these servers.',
  },
  {
    name: 'introduction-token-file',
    setting: 'introduction_token_file',
    value: 'FILE',
    completes: 'file',
    description: 'Introduction token of a new node: the secret of "roster node intro create".',
  },
  {
    name: 'ca-cert',
    setting: 'ca_cert',
    value: 'FILE',
    completes: 'file',
    description: 'PEM of the certificate authority of servers with https://.',
  },
  {
    name: 'advertise',
    setting: 'peering.advertise',
    value: 'HOST:PORT,HOST:PORT',
    isList: true,
    description: 'Addresses at which other clusters reach it (those where it listens).',
  },
  {
    name: 'client-cert',
    setting: 'client_cert',
    value: 'FILE',
    completes: 'file',
    description: 'PEM of the certificate for servers that check clients.',
  },
  {
    name: 'client-key',
    setting: 'client_key',
    value: 'FILE',
    completes: 'file',
    description: 'PEM of the key of --client-cert.',
  },
  {
    name: 'tls-cert',
    setting: 'tls.cert_file',
    value: 'FILE',
    completes: 'file',
    description: 'Speak TLS (https://) with this certificate, in PEM.',
  },
  {
    name: 'tls-key',
    setting: 'tls.key_file',
    value: 'FILE',
    completes: 'file',
    description: 'PEM of the key of --tls-cert.',
  },
  {
    name: 'tls-ca',
    setting: 'tls.ca_file',
    value: 'FILE',
    completes: 'file',
    description: 'PEM of the certificate authority of clients.',
  },
  {
    name: 'tls-verify-client',
    setting: 'tls.verify_client',
    description: 'Serve only clients with a certificate of --tls-ca.',
  },
  {
    name: 'data-dir',
    setting: 'data_dir',
    value: 'DIR',
    completes: 'file',
    description: 'Directory of the state.',
  },
  {
    name: 'readers',
    setting: 'readers',
    value: 'N',
    description:
      'Threads that answer reads, each with a copy of the state; by default as suits the machine.',
  },
  {
    name: 'decider',
    setting: 'decider',
    value: 'WORD',
    isSwitch: true,
    choices: ['true', 'false'],
    description:
      'Whether a thread of its own decides where allocations run; by default as suits the machine.',
  },
  {
    name: 'engine',
    setting: 'engine',
    value: 'WORD',
    choices: engineWords,
    description: 'Where the state is stored: in the data directory (embedded), or in etcd.',
  },
  {
    name: 'etcd-endpoints',
    setting: 'etcd.endpoints',
    value: 'HOST:PORT,HOST:PORT',
    isList: true,
    description: 'Where etcd listens; https://HOST:PORT for TLS.',
  },
  {
    name: 'etcd-prefix',
    setting: 'etcd.prefix',
    value: 'PREFIX',
    description: 'The keys in etcd begin with it (/roster/).',
  },
  {
    name: 'etcd-user',
    setting: 'etcd.user',
    value: 'NAME',
    description: 'User of etcd.',
  },
  {
    name: 'etcd-password-file',
    setting: 'etcd.password_file',
    value: 'FILE',
    completes: 'file',
    description: 'File with the password of --etcd-user.',
  },
  {
    name: 'etcd-ca',
    setting: 'etcd.ca_file',
    value: 'FILE',
    completes: 'file',
    description: 'PEM of the certificate authority of etcd; implies TLS.',
  },
  {
    name: 'etcd-cert',
    setting: 'etcd.cert_file',
    value: 'FILE',
    completes: 'file',
    description: 'PEM of the certificate for an etcd that checks clients.',
  },
  {
    name: 'etcd-key',
    setting: 'etcd.key_file',
    value: 'FILE',
    completes: 'file',
    description: 'PEM of the key of --etcd-cert.',
  },
  {
    name: 'cluster-advertise',
    setting: 'cluster.advertise',
    value: 'HOST:PORT',
    description: 'Address for the other servers on the same etcd (where it listens).',
  },
  {
    name: 'cluster-allow-plaintext',
    setting: 'cluster.allow_plaintext',
    description: 'Speak to servers of other machines without TLS.',
  },
  {
    name: 'cluster-stale-max',
    setting: 'cluster.stale_max',
    value: 'DURATION',
    description: 'Age of the state from which on reads with "stale" are refused (5m).',
  },
  {
    name: 'snapshot-dir',
    setting: 'snapshots.directory',
    value: 'DIR',
    completes: 'file',
    description: 'Save snapshots to this directory, on a schedule.',
  },
  {
    name: 'snapshot-interval',
    setting: 'snapshots.interval',
    value: 'DURATION',
    description: 'Time between two snapshots (1h).',
  },
  {
    name: 'snapshot-keep',
    setting: 'snapshots.keep',
    value: 'COUNT',
    description: 'Number of snapshots that are kept (24).',
  },
  {
    name: 'root-token',
    setting: 'root_token',
    value: 'UUID',
    description:
      'Secret of the root token (ROSTER_ROOT_TOKEN); visible to all users of the machine.',
  },
  {
    name: 'root-token-file',
    setting: 'root_token_file',
    value: 'FILE',
    completes: 'file',
    description: 'File with the secret of the root token.',
  },
  {
    name: 'node-name',
    setting: 'node.name',
    value: 'NAME',
    description: "Name of the node (the machine's name).",
  },
  {
    name: 'host-volume',
    setting: 'node.host_volume',
    value: 'NAME=PATH[:ro]',
    isRepeatable: true,
    description: 'A directory that tasks may mount as a volume; may be repeated.',
  },
  {
    name: 'allow-drivers',
    setting: 'drivers.allow',
    value: 'DRIVER,DRIVER',
    isList: true,
    description: 'Drivers that tasks may use (all but raw_exec; with --dev all).',
  },
  {
    name: 'tasks-on-exit',
    setting: 'tasks_on_exit',
    value: 'WORD',
    choices: tasksOnExitWords,
    description: 'Whether running tasks stop when the agent ends.',
  },
  {
    name: 'run',
    setting: 'run',
    value: 'FILE',
    isRepeatable: true,
    completes: 'file',
    description: 'Register this job when ready, unless it exists; may be repeated.',
  },
  {
    name: 'log-level',
    setting: 'log_level',
    value: 'LEVEL',
    choices: logLevels,
    description: 'Least level of log messages (info).',
  },
];

/** The name of the setting's flag, or of the setting if it has none. */
export function flagOf(setting: SettingName): string {
  const flag = flags.find((candidate) => candidate.setting === setting);
  return flag === undefined ? setting : `--${flag.name}`;
}
