import type { DefaultPolicy } from '../../acl/authorizer.ts';
import { limits } from '../../model/limits.ts';
import { logLevels } from '../../model/monitor/log-level.ts';
import { parseUidRange } from '../../model/node/uid-range.ts';
import { everyNode, poolNameFault } from '../../model/node-pool/node-pool.ts';
import { isServerAddress } from '../../model/peering/rules.ts';
import { artifactSources } from '../../model/task/files.ts';
import { cliLimits } from '../limits.ts';
import { allowedDriversFault } from './drivers.ts';
import { engineFaults, engineSettings } from './engine-settings.ts';
import { hostVolumeFault } from './host-volumes.ts';
import { keyringFaults, keyringSettings } from './keyring-settings.ts';
import { modeFaults, serversFault } from './modes.ts';
import { capacityFaults, capacitySettings } from './node-capacity.ts';
import { nodeMetaFault } from './node-meta.ts';
import {
  type Check,
  duration,
  file,
  flag,
  listThat,
  name,
  oneOf,
  someOf,
  text,
  textMapThat,
  textThat,
  wholeBetween,
  wholeFrom1,
} from './setting-checks.ts';

export const auditEventWords = ['all', 'writes'] as const;
export type AuditEvents = (typeof auditEventWords)[number];

const defaultPolicyWords: readonly DefaultPolicy[] = ['allow', 'deny'];

export const tasksOnExitWords = ['stop', 'keep'] as const;

/** The settings of flags, environment and configuration file, before they are checked. */
export type AgentSettings = { readonly [K in SettingName]?: unknown };

export type SettingName = keyof typeof settings;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const hostName = /^\.?[A-Za-z0-9_]([A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*)$/;

const capability = /^(cap_)?[a-z_]+$/i;

const hostPortForm = 'must be HOST:PORT, such as 127.0.0.1:4720, with a port from 0 to 65535';

/** OpenID Connect Discovery 1.0 §2: no query and no fragment. */
const isIssuer = (value: string): boolean => {
  const url = URL.parse(value);
  return url?.protocol === 'https:' && !/[?#]|\/$/.test(value);
};

/** Reads `host:port`, `[::1]:port`, `:port` or a port alone. */
export function parseHostPort(value: unknown): { host: string; port: number } | undefined {
  if (typeof value !== 'string') return undefined;
  const match = /^(?:(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]*):)?(\d{1,5})$/.exec(value);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) return undefined;
  const host = (match[1] ?? '').replace(/^\[|\]$/g, '');
  return { host: host === '' ? defaultHost : host, port };
}

export const defaultHost = '127.0.0.1';

/** The check of every setting, by its name in the configuration file; names of nested settings are dotted. */
export const settings = {
  dev: flag,
  http: { fault: (value: unknown) => (parseHostPort(value) ? undefined : hostPortForm) },
  'http.allowed_hosts': listThat(
    (host) => hostName.test(host),
    'must be a list of names such as "roster.example.com", or ".example.com" for all below it',
    { most: limits.http.allowedHostsMax },
  ),
  server_only: flag,
  servers: { fault: serversFault },
  introduction_token_file: file,
  ca_cert: file,
  client_cert: file,
  client_key: file,
  'ui.enabled': flag,
  'ui.label': text(limits.ui.labelLengthMax),
  'ui.color': textThat(
    (value) => /^#[0-9a-f]{6}$/i.test(value),
    'must be a colour such as "#b42318"',
  ),
  'tls.cert_file': file,
  'tls.key_file': file,
  'tls.ca_file': file,
  'tls.verify_client': flag,
  data_dir: file,
  ...engineSettings,
  readers: wholeBetween(0, cliLimits.agent.readersMax),
  decider: flag,
  root_token: textThat(
    (value) => uuid.test(value),
    'must be a UUID, such as one made by "uuidgen"',
  ),
  root_token_file: file,
  'acl.enabled': flag,
  'acl.default_policy': oneOf(defaultPolicyWords),
  ...keyringSettings,
  'identity.issuer': textThat(
    isIssuer,
    'must be an address that begins with https:// and does not end with "/"',
  ),
  'peering.advertise': listThat(
    isServerAddress,
    `must be 1 to ${limits.peering.addressesMax} addresses, such as "10.0.0.1:4720"`,
    { least: 1, most: limits.peering.addressesMax },
  ),
  'peering.ca_file': file,
  'telemetry.otlp.endpoint': textThat(
    (value) => /^https?:$/.test(URL.parse(value)?.protocol ?? '') && !/[@?#]/.test(value),
    'must be the address of a collector, such as "http://127.0.0.1:4318"',
  ),
  'telemetry.otlp.headers_file': file,
  'audit.file': file,
  'audit.events': oneOf(auditEventWords),
  region: name,
  'node.name': text(),
  'node.datacenter': name,
  'node.class': name,
  'node.pool': textThat(
    (value) => poolNameFault(value) === undefined && value !== everyNode,
    `must be letters, digits, "-" and "_", and not "${everyNode}"`,
  ),
  'node.meta': { fault: nodeMetaFault },
  ...capacitySettings,
  'node.artifacts.sources': someOf(artifactSources),
  'node.artifacts.http_timeout': duration(1000),
  'node.artifacts.git_timeout': duration(1000),
  'node.artifacts.download_bytes': wholeFrom1,
  'node.artifacts.files': wholeFrom1,
  'node.artifacts.unpacked_bytes': wholeFrom1,
  'node.artifacts.ratio': wholeFrom1,
  'isolation.chroot': textMapThat(
    (path) => path.startsWith('/'),
    'must be an object of absolute paths: those of the machine, and where tasks see them',
  ),
  'isolation.allow_capabilities': listThat(
    (item) => capability.test(item),
    'must be a list of capabilities, such as "net_raw"',
  ),
  'isolation.uid_range': textThat(
    (value) => parseUidRange(value) !== undefined,
    'must be START:COUNT, user ids from 1000 on without 65534, such as "200000:65536"',
  ),
  'isolation.allow_root': flag,
  'isolation.allow_host_pid': flag,
  'isolation.allow_host_ipc': flag,
  'node.disable_remote_exec': flag,
  'node.host_volume': { fault: hostVolumeFault },
  'drivers.allow': { fault: allowedDriversFault },
  'snapshots.directory': file,
  'snapshots.interval': duration(limits.snapshot.intervalMinMs),
  'snapshots.keep': wholeBetween(1, limits.snapshot.keptMax),
  'garbage_collection.interval': duration(limits.garbage.intervalMinMs),
  'garbage_collection.job_age': duration(0),
  'garbage_collection.evaluation_age': duration(0),
  'garbage_collection.batch_evaluation_age': duration(0),
  'garbage_collection.deployment_age': duration(0),
  'garbage_collection.node_age': duration(0),
  'docker.socket': file,
  'docker.volumes': flag,
  'docker.allow_privileged': flag,
  'docker.allow_caps': listThat(
    (entry) => entry !== '',
    'must be a list of capabilities, such as ["net_raw"], or ["all"]',
  ),
  'docker.image_delay': duration(0),
  'docker.unreachable_timeout': duration(1000),
  tasks_on_exit: oneOf(tasksOnExitWords),
  run: listThat((path) => path !== '', 'must be a list of job files'),
  log_level: oneOf(logLevels),
} as const satisfies Readonly<Record<string, Check>>;

/**
 * The faults of single settings and of combinations, each with the setting to change. `checked` settings have
 * faults that are told already. With `isPart` there may be more settings, such as those of a file that
 * cannot be read.
 */
export function settingFaults(
  given: AgentSettings,
  nameOf: (setting: SettingName) => string,
  { checked, isPart = false }: { checked: ReadonlySet<string | undefined>; isPart?: boolean },
): string[] {
  const faults = (Object.keys(settings) as SettingName[])
    .filter((setting) => !checked.has(setting))
    .flatMap((setting) => settingFault(setting, given[setting], nameOf(setting)));
  if (!isPart && given.dev !== true && given.data_dir === undefined) {
    faults.push(
      `${nameOf('data_dir')} is missing: name a directory to keep the state in, or give --dev to keep nothing`,
    );
  }
  faults.push(
    ...modeFaults(given, nameOf),
    ...tlsFaults(given, nameOf),
    ...engineFaults(given, nameOf),
    ...keyringFaults(given, nameOf),
    ...capacityFaults(given, nameOf),
  );
  if (given.root_token !== undefined && given.root_token_file !== undefined) {
    const [token, file] = [nameOf('root_token'), nameOf('root_token_file')];
    faults.push(`${token} and ${file} exclude each other: give the root token once`);
  }
  for (const setting of ['snapshots.interval', 'snapshots.keep'] as const) {
    if (given[setting] === undefined || given['snapshots.directory'] !== undefined) continue;
    const directory = nameOf('snapshots.directory');
    faults.push(`${directory} is missing: without it ${nameOf(setting)} has no effect`);
  }
  if (given['audit.events'] !== undefined && given['audit.file'] === undefined) {
    faults.push(`${nameOf('audit.events')} is of no use without audit.file: a path, or "stdout"`);
  }
  if (given.tasks_on_exit === 'keep' && given.data_dir === undefined) {
    faults.push(
      `${nameOf('tasks_on_exit')} cannot be keep without a data directory: nothing would know of the tasks later`,
    );
  }
  return faults;
}

/** The fault of a single setting, if it has one. `name` names it in the fault. */
export function settingFault(setting: SettingName, value: unknown, name: string): string[] {
  if (value === undefined) return [];
  const must = (settings[setting] as Check).fault(value);
  return must === undefined ? [] : [`${name} ${must}, got ${shown(setting, value)}`];
}

/** Settings that need another setting. */
const togetherFor: readonly (readonly [SettingName, SettingName])[] = [
  ['tls.cert_file', 'tls.key_file'],
  ['tls.key_file', 'tls.cert_file'],
  ['tls.ca_file', 'tls.cert_file'],
  ['tls.verify_client', 'tls.ca_file'],
  ['telemetry.otlp.headers_file', 'telemetry.otlp.endpoint'],
  ['client_cert', 'client_key'],
  ['client_key', 'client_cert'],
];

const tlsFaults = (given: AgentSettings, nameOf: (setting: SettingName) => string): string[] =>
  togetherFor
    .filter(([one, other]) => (given[one] ?? false) !== false && given[other] === undefined)
    .map(([one, other]) => `${nameOf(one)} is of no use without ${other}`);

/** The settings that are secrets themselves. Other secrets are in files, which settings name. */
export const secretSettings: readonly SettingName[] = ['root_token', 'keyring.root_key'];

/** The value in an error, but never a secret. */
const shown = (setting: SettingName, value: unknown): string =>
  secretSettings.includes(setting)
    ? 'something else'
    : withoutUser(JSON.stringify(value) ?? '').slice(0, 64);

/** A text without the user and password of an address. */
export const withoutUser = (text: string): string => text.replace(/\/\/[^/@\s]+@/g, '//[secret]@');
