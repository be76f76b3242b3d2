import { dirname, resolve } from 'node:path';
import type { LocalCommand, OptionDefinition } from '../definition.ts';
import type { CliEnvironment } from '../environment.ts';
import { CliError, explainError } from '../errors.ts';
import { readJobFile } from '../job-file.ts';
import { camelCase, type Options } from '../options.ts';
import { parseConfiguration } from './configuration.ts';
import { engineWords } from './engine-settings.ts';
import { type AgentOptions, agentOptions } from './options.ts';
import {
  type AgentSettings,
  logLevels,
  type SettingName,
  settingFaults,
  tasksOnExitWords,
} from './settings.ts';

/** `isList`: the flag takes a list, separated by commas. */
type Flag = OptionDefinition & { readonly setting?: SettingName; readonly isList?: boolean };

export const flags: readonly Flag[] = [
  { name: 'dev', setting: 'dev', description: 'Make a root token and print it; store nothing.' },
  {
    name: 'config',
    value: 'FILE',
    completes: 'file',
    description: 'Configuration in JSON; flags take precedence.',
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

const details = `Examples:
  roster agent --dev                              try it out
  roster agent --data-dir /var/lib/roster         keep everything
  roster agent --config /etc/roster/agent.json
  roster agent --server-only --http 10.0.0.1:4720 --data-dir /var/lib/roster
  roster agent --engine etcd --etcd-endpoints 10.0.0.7:2379,10.0.0.8:2379 --data-dir /var/lib/roster
  roster agent --servers http://10.0.0.1:4720,http://10.0.0.2:4720 \\
    --introduction-token-file introduction-token --data-dir /var/lib/roster

With --servers the agent is a node: it runs allocations, opens no port, and changes to the next server
when one does not answer.

With --tls-cert and --tls-key it speaks TLS. At SIGHUP it reads the files again.

The configuration file has http (or http.{address,allowed_hosts}), data_dir, server_only, servers (a list), introduction_token_file, ca_cert,
client_cert, client_key, tls.{cert_file,key_file,ca_file,verify_client}, root_token, root_token_file,
tasks_on_exit, run, log_level, region,
engine, etcd.{endpoints,prefix,user,password_file,ca_file,cert_file,key_file,quota_bytes},
cluster.{advertise,allow_plaintext},
acl.{enabled,default_policy}, audit.{file,events}, identity.issuer,
keyring.root_key_file, keyring.kms.{url,key,wrapped_key_file,token_file,ca_file},
peering.{advertise,ca_file},
node.{name,datacenter,class,pool,meta,host_volume,disable_remote_exec}, drivers.allow (a list),
isolation.{chroot,allow_capabilities,allow_root,allow_host_pid,allow_host_ipc,uid_range},
docker.{socket,volumes,allow_privileged,allow_caps,image_delay,unreachable_timeout},
node.artifacts.{sources,http_timeout,git_timeout,download_bytes,files,unpacked_bytes,ratio},
snapshots.{directory,interval,keep} and
garbage_collection.{interval,job_age,evaluation_age,batch_evaluation_age,deployment_age,node_age}:
  { "data_dir": "/var/lib/roster", "node": { "datacenter": "dc1", "meta": { "rack": "r1" } } }`;

export const agent: LocalCommand = {
  words: ['agent'],
  summary: 'Start an agent: server and node in one process.',
  definition: {
    options: flags.map(({ setting: _, isList: __, ...option }) => option),
    details,
  },
  async runLocally(environment, _words, options) {
    return environment.startAgent(await readAgentOptions(environment, options));
  },
};

/** @throws CliError with every fault of the flags and the file */
export async function readAgentOptions(
  environment: CliEnvironment,
  options: Options,
): Promise<AgentOptions> {
  const { env } = environment;
  const file = options.text('config');
  const configuration = await parseConfiguration(environment.readFile, file);
  const fromFlags = settingsOf(options);
  const fromEnvironment = environmentSettings(env);
  const given: AgentSettings = { ...configuration.settings, ...fromEnvironment, ...fromFlags };

  const nameOf = (setting: SettingName): string => {
    if (Object.hasOwn(fromFlags, setting)) return flagOf(setting);
    if (Object.hasOwn(fromEnvironment, setting)) return variables[setting as EnvironmentSetting];
    return Object.hasOwn(configuration.settings, setting) ? `${file}: ${setting}` : flagOf(setting);
  };
  const faults = [...configuration.faults, ...settingFaults(given, nameOf)];
  const base = Object.hasOwn(fromFlags, 'run') || file === undefined ? '.' : dirname(file);
  const run = await readJobs(environment, given.run, base, faults);
  if (faults.length > 0) {
    const problem = faults.length === 1 ? 'something is' : `${faults.length} things are`;
    throw new CliError(`The agent was not started, since ${problem} wrong:`, {
      faults,
      hint: 'See "roster agent --help".',
    });
  }
  return agentOptions(given, run);
}

/** Secrets that the environment may give. */
const variables = {
  root_token: 'ROSTER_ROOT_TOKEN',
  'keyring.root_key': 'ROSTER_ROOT_KEY',
} as const;
type EnvironmentSetting = keyof typeof variables;

const environmentSettings = (env: CliEnvironment['env']): AgentSettings =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([setting, name]) =>
      env[name] ? [[setting, env[name]]] : [],
    ),
  );

export function settingsOf(options: Options): AgentSettings {
  const given: Record<string, unknown> = {};
  for (const { name, setting, value, isRepeatable, isList } of flags) {
    if (setting === undefined) continue;
    const key = camelCase(name);
    if (value === undefined) {
      if (options.flag(key)) given[setting] = true;
    } else if (isRepeatable) {
      if (options.list(key).length > 0) given[setting] = options.list(key);
    } else if (options.text(key) !== undefined) {
      given[setting] = isList ? options.text(key)!.split(',') : options.text(key);
    }
  }
  return given;
}

export function flagOf(setting: SettingName): string {
  const flag = flags.find((candidate) => candidate.setting === setting);
  return flag === undefined ? setting : `--${flag.name}`;
}

/** Paths in a configuration file are relative to it. */
async function readJobs(
  environment: CliEnvironment,
  paths: unknown,
  base: string,
  faults: string[],
): Promise<AgentOptions['run']> {
  const run = [];
  for (const path of Array.isArray(paths) ? (paths as unknown[]) : []) {
    if (typeof path !== 'string' || path === '') continue;
    const place = base === '.' || path === '-' ? path : resolve(base, path);
    try {
      run.push({ path: place, registration: await readJobFile(environment, place) });
    } catch (error) {
      const explained = explainError(error);
      if (explained === undefined) throw error;
      faults.push(`--run: ${explained.message.replace(/\.$/, '')}`);
    }
  }
  return run;
}
