import type { DefaultPolicy } from '../../acl/authorizer.ts';
import { durationMs, formatDuration, parseDuration } from '../../base/duration.ts';
import { limits } from '../../model/limits.ts';
import { parseUidRange, type UidRange } from '../../model/node/uid-range.ts';
import { everyNode, poolNameFault } from '../../model/node-pool/node-pool.ts';
import { isServerAddress } from '../../model/peering/rules.ts';
import { type ArtifactSource, artifactSources } from '../../model/task/files.ts';
import type { HostVolumes } from '../../model/volume/host-volume.ts';
import type { JobRegistration } from '../../sdk/client.ts';
import { allowedDrivers, allowedDriversFault } from './drivers.ts';
import { hostVolumeFault, hostVolumesOf } from './host-volumes.ts';
import { type AgentMode, modeFaults, modeOf, serversFault } from './modes.ts';

/** What an agent is started with; every field is checked. */
export interface AgentOptions {
  /** Make a root token, print it, and keep nothing unless there is a data directory. */
  readonly isDev: boolean;
  readonly mode: AgentMode;
  readonly http: { readonly host: string; readonly port: number };
  /** Names under which the server is asked, besides those of the machine. */
  readonly allowedHosts: readonly string[];
  /** The files of what TLS is spoken with; `undefined`: none is. */
  readonly tls: TlsFiles | undefined;
  /** How a node alone reaches its servers; the files hold a secret, and PEM. */
  readonly servers: {
    readonly addresses: readonly string[];
    readonly introductionTokenFile: string | undefined;
    readonly caCertificateFile: string | undefined;
    readonly clientCertificateFile: string | undefined;
    readonly clientKeyFile: string | undefined;
  };
  /** `undefined`: nothing is kept; only with `isDev`. */
  readonly dataDirectory: string | undefined;
  /** A UUID, in lower case. */
  readonly rootToken: string | undefined;
  /** The file that holds it; `undefined`: `rootToken` says it, or nothing does. */
  readonly rootTokenFile: string | undefined;
  readonly aclEnabled: boolean;
  /** What decides where no rule of a token speaks. */
  readonly aclDefaultPolicy: DefaultPolicy;
  /** The file of the key that secrets are sealed under; `undefined`: it is in the data directory. */
  readonly rootKeyFile: string | undefined;
  /** Where the audit log goes: `stdout` or a file; `undefined`: there is none. */
  readonly audit: { readonly to: string; readonly events: AuditEvents } | undefined;
  readonly region: string;
  /** How other clusters reach this one. */
  readonly peering: {
    /** Each `host:port`; `undefined`: where the agent listens. */
    readonly advertise: readonly string[] | undefined;
    /** PEM that they are to trust, where something speaks TLS for the agent; `undefined`: nothing does. */
    readonly caFile: string | undefined;
  };
  /** The address under which others find the keys of workloads' tokens; `undefined`: none. */
  readonly issuer: string | undefined;
  readonly node: {
    /** `undefined`: the machine's name. */
    readonly name: string | undefined;
    readonly datacenter: string;
    readonly class: string;
    readonly pool: string;
    readonly meta: Readonly<Record<string, string>>;
    /** Nobody may run commands in tasks of this node, whatever their rights. */
    readonly isRemoteExecDisabled: boolean;
    /** Directories that tasks may mount, by name. */
    readonly hostVolumes: HostVolumes;
  };
  /** Which drivers the node has; `allow` absent: all but `raw_exec`. */
  readonly drivers: { readonly allow?: readonly string[] };
  /** What isolated tasks see of the machine and may do there, as far as somebody says so. */
  readonly isolation: {
    readonly view?: Readonly<Record<string, string>>;
    readonly allowedCapabilities?: readonly string[];
    readonly uidRange?: UidRange;
    readonly allowsRoot?: boolean;
    readonly allowsHostPid?: boolean;
    readonly allowsHostIpc?: boolean;
  };
  /** What tasks in containers may do on this node, as far as somebody says so. */
  readonly docker: {
    readonly socket?: string;
    readonly allowVolumes?: boolean;
    readonly allowPrivileged?: boolean;
    readonly allowedCapabilities?: readonly string[];
    readonly imageDelayMs?: number;
    readonly unreachableTimeoutMs?: number;
  };
  /** How long is kept what nobody needs, as far as somebody says so. */
  readonly garbage: Partial<Record<GarbageOption, number>>;
  /** What is fetched for tasks, and how much of it, as far as somebody says so. */
  readonly artifacts: Partial<Record<ArtifactBound, number>> & {
    readonly sources?: readonly ArtifactSource[];
  };
  /** What becomes of the running tasks when the agent is told to end. */
  readonly tasksOnExit: 'stop' | 'keep';
  /** Jobs to register once the agent is ready, each unless it already exists. */
  readonly run: readonly { readonly path: string; readonly registration: JobRegistration }[];
  readonly logLevel: LogLevel;
}

/** In PEM form. */
export interface TlsFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Of the authorities that certificates of clients are checked against. */
  readonly authorityFile: string | undefined;
  readonly verifiesClients: boolean;
}

/** What the settings of garbage collection are called below `garbage_collection`. */
const garbageOptions = {
  interval: 'intervalMs',
  job_age: 'jobAgeMs',
  evaluation_age: 'evaluationAgeMs',
  batch_evaluation_age: 'batchEvaluationAgeMs',
  deployment_age: 'deploymentAgeMs',
  node_age: 'nodeAgeMs',
} as const;
type GarbageOption = (typeof garbageOptions)[keyof typeof garbageOptions];

/** What the bounds of artifacts are called below `node.artifacts`; times end in `Ms`. */
const artifactBounds = {
  http_timeout: 'httpTimeoutMs',
  git_timeout: 'gitTimeoutMs',
  download_bytes: 'downloadBytesMax',
  files: 'filesMax',
  unpacked_bytes: 'unpackedBytesMax',
  ratio: 'ratioMax',
} as const;
type ArtifactBound = (typeof artifactBounds)[keyof typeof artifactBounds];

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];
export const auditEventWords = ['all', 'writes'] as const;
export type AuditEvents = (typeof auditEventWords)[number];

const defaultPolicyWords: readonly DefaultPolicy[] = ['allow', 'deny'];

export const tasksOnExitWords = ['stop', 'keep'] as const;

/** What flags, environment and the configuration file may say, before it is checked. */
export type AgentSettings = { readonly [K in SettingName]?: unknown };

export type SettingName = keyof typeof settings;

interface Check {
  /** What the setting has to be, or `undefined` when it is. */
  readonly fault: (value: unknown) => string | undefined;
}

const text = (most = 256): Check => ({
  fault: (value) =>
    typeof value === 'string' && value !== '' && value.length <= most
      ? undefined
      : `must be text of 1 to ${most} characters`,
});

const oneOf = (words: readonly string[]): Check => ({
  fault: (value) => (words.includes(value as string) ? undefined : `must be ${words.join(' or ')}`),
});

const flag: Check = {
  fault: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
};

const name: Check = {
  fault: (value) =>
    typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(value)
      ? undefined
      : 'must be a name of letters, digits, ".", "_" and "-"',
};

const duration = (leastMs: number): Check => ({
  fault: (value) => {
    const { ageMaxMs: mostMs } = limits.garbage;
    const ms =
      typeof value === 'string' ? durationMs(parseDuration(value) ?? Number.NaN) : Number.NaN;
    if (ms >= leastMs && ms <= mostMs) return undefined;
    const [least, most] = [leastMs, mostMs].map((bound) => formatDuration(bound * 1e6));
    return `must be a duration from ${least} to ${most}, such as "90m"`;
  },
});

const wholeFrom1: Check = {
  fault: (value) =>
    Number.isSafeInteger(value) && (value as number) > 0
      ? undefined
      : 'must be a whole number from 1 on',
};

const someOf = (words: readonly string[]): Check => ({
  fault: (value) =>
    Array.isArray(value) && value.every((word) => words.includes(word as string))
      ? undefined
      : `must be a list of ${words.join(', ')}`,
});

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Every setting by its name in the configuration file; nested ones are dotted. */
export const settings = {
  dev: flag,
  http: { fault: (value: unknown) => (parseHostPort(value) ? undefined : hostPortForm) },
  'http.allowed_hosts': {
    fault: (value: unknown) =>
      Array.isArray(value) &&
      value.length <= limits.http.allowedHostsMax &&
      value.every((host) => typeof host === 'string' && hostName.test(host))
        ? undefined
        : 'must be a list of names such as "roster.example.com", or ".example.com" for all below it',
  },
  server_only: flag,
  servers: { fault: serversFault },
  introduction_token_file: text(4096),
  ca_cert: text(4096),
  client_cert: text(4096),
  client_key: text(4096),
  'tls.cert_file': text(4096),
  'tls.key_file': text(4096),
  'tls.ca_file': text(4096),
  'tls.verify_client': flag,
  data_dir: text(4096),
  root_token: {
    fault: (value: unknown) =>
      typeof value === 'string' && uuid.test(value)
        ? undefined
        : 'must be a UUID, such as one made by "uuidgen"',
  },
  root_token_file: text(4096),
  'acl.enabled': flag,
  'acl.default_policy': oneOf(defaultPolicyWords),
  'keyring.root_key_file': text(4096),
  'identity.issuer': {
    fault: (value: unknown) =>
      typeof value === 'string' && isIssuer(value)
        ? undefined
        : 'must be an address that begins with https:// and does not end with "/"',
  },
  'peering.advertise': {
    fault: (value: unknown) =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.length <= limits.peering.addressesMax &&
      value.every((address) => typeof address === 'string' && isServerAddress(address))
        ? undefined
        : `must be 1 to ${limits.peering.addressesMax} addresses, such as "10.0.0.1:4720"`,
  },
  'peering.ca_file': text(4096),
  'audit.file': text(4096),
  'audit.events': oneOf(auditEventWords),
  region: name,
  'node.name': text(),
  'node.datacenter': name,
  'node.class': name,
  'node.pool': {
    fault: (value: unknown) =>
      typeof value === 'string' && poolNameFault(value) === undefined && value !== everyNode
        ? undefined
        : `must be letters, digits, "-" and "_", and not "${everyNode}"`,
  },
  'node.meta': {
    fault: (value: unknown) =>
      isTextMap(value) ? undefined : 'must be an object whose values are text',
  },
  'node.artifacts.sources': someOf(artifactSources),
  'node.artifacts.http_timeout': duration(1000),
  'node.artifacts.git_timeout': duration(1000),
  'node.artifacts.download_bytes': wholeFrom1,
  'node.artifacts.files': wholeFrom1,
  'node.artifacts.unpacked_bytes': wholeFrom1,
  'node.artifacts.ratio': wholeFrom1,
  'isolation.chroot': {
    fault: (value: unknown) =>
      isTextMap(value) &&
      Object.entries(value)
        .flat()
        .every((path) => path.startsWith('/'))
        ? undefined
        : 'must be an object of absolute paths: those of the machine, and where tasks see them',
  },
  'isolation.allow_capabilities': {
    fault: (value: unknown) =>
      Array.isArray(value) &&
      value.every((item) => typeof item === 'string' && capability.test(item))
        ? undefined
        : 'must be a list of capabilities, such as "net_raw"',
  },
  'isolation.uid_range': {
    fault: (value: unknown) =>
      typeof value === 'string' && parseUidRange(value) !== undefined
        ? undefined
        : 'must be START:COUNT, user ids from 1000 on without 65534, such as "200000:65536"',
  },
  'isolation.allow_root': flag,
  'isolation.allow_host_pid': flag,
  'isolation.allow_host_ipc': flag,
  'node.disable_remote_exec': flag,
  'node.host_volume': { fault: hostVolumeFault },
  'drivers.allow': { fault: allowedDriversFault },
  'garbage_collection.interval': duration(limits.garbage.intervalMinMs),
  'garbage_collection.job_age': duration(0),
  'garbage_collection.evaluation_age': duration(0),
  'garbage_collection.batch_evaluation_age': duration(0),
  'garbage_collection.deployment_age': duration(0),
  'garbage_collection.node_age': duration(0),
  'docker.socket': text(4096),
  'docker.volumes': flag,
  'docker.allow_privileged': flag,
  'docker.allow_caps': {
    fault: (value: unknown) =>
      Array.isArray(value) && value.every((entry) => typeof entry === 'string' && entry !== '')
        ? undefined
        : 'must be a list of capabilities, such as ["net_raw"], or ["all"]',
  },
  'docker.image_delay': duration(0),
  'docker.unreachable_timeout': duration(1000),
  tasks_on_exit: oneOf(tasksOnExitWords),
  run: {
    fault: (value: unknown) =>
      Array.isArray(value) && value.every((path) => typeof path === 'string' && path !== '')
        ? undefined
        : 'must be a list of job files',
  },
  log_level: oneOf(logLevels),
} as const satisfies Readonly<Record<string, Check>>;

const hostName = /^\.?[A-Za-z0-9_]([A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*)$/;

const capability = /^(cap_)?[a-z_]+$/i;

const hostPortForm = 'must be HOST:PORT, such as 127.0.0.1:4720, with a port from 0 to 65535';

/** OpenID Connect Discovery 1.0 §2: no query and no fragment. */
const isIssuer = (value: string): boolean => {
  const url = URL.parse(value);
  return url?.protocol === 'https:' && !/[?#]|\/$/.test(value);
};

const isTextMap = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((entry) => typeof entry === 'string');

/** `host:port`, `[::1]:port`, `:port` or a port alone. */
export function parseHostPort(value: unknown): { host: string; port: number } | undefined {
  if (typeof value !== 'string') return undefined;
  const match = /^(?:(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]*):)?(\d{1,5})$/.exec(value);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) return undefined;
  const host = (match[1] ?? '').replace(/^\[|\]$/g, '');
  return { host: host === '' ? defaultHost : host, port };
}

const defaultHost = '127.0.0.1';
const defaultPort = 4720;

/** Faults of single settings and of settings together, each naming what to change. */
export function settingFaults(
  given: AgentSettings,
  nameOf: (setting: SettingName) => string,
): string[] {
  const faults: string[] = [];
  for (const [setting, { fault }] of Object.entries(settings) as [SettingName, Check][]) {
    const value = given[setting];
    if (value === undefined) continue;
    const must = fault(value);
    if (must !== undefined) faults.push(`${nameOf(setting)} ${must}, got ${shown(setting, value)}`);
  }
  if (given.dev !== true && given.data_dir === undefined) {
    faults.push(
      `${nameOf('data_dir')} is missing: name a directory to keep the state in, or give --dev to keep nothing`,
    );
  }
  faults.push(...modeFaults(given, nameOf), ...tlsFaults(given, nameOf));
  if (given.root_token !== undefined && given.root_token_file !== undefined) {
    const [token, file] = [nameOf('root_token'), nameOf('root_token_file')];
    faults.push(`${token} and ${file} exclude each other: give the root token once`);
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

/** Files that are of no use without another one. */
const togetherFor: readonly (readonly [SettingName, SettingName])[] = [
  ['tls.cert_file', 'tls.key_file'],
  ['tls.key_file', 'tls.cert_file'],
  ['tls.ca_file', 'tls.cert_file'],
  ['tls.verify_client', 'tls.ca_file'],
  ['client_cert', 'client_key'],
  ['client_key', 'client_cert'],
];

const tlsFaults = (given: AgentSettings, nameOf: (setting: SettingName) => string): string[] =>
  togetherFor
    .filter(([one, other]) => (given[one] ?? false) !== false && given[other] === undefined)
    .map(([one, other]) => `${nameOf(one)} is of no use without ${other}`);

function tlsOf(given: AgentSettings): AgentOptions['tls'] {
  const words = given as Partial<Record<SettingName, string>>;
  const certificateFile = words['tls.cert_file'];
  const keyFile = words['tls.key_file'];
  if (certificateFile === undefined || keyFile === undefined) return undefined;
  return {
    ...{ certificateFile, keyFile, authorityFile: words['tls.ca_file'] },
    verifiesClients: given['tls.verify_client'] === true,
  };
}

/** A secret is never repeated, even when it is none. */
const shown = (setting: SettingName, value: unknown): string =>
  setting === 'root_token' ? 'something else' : (JSON.stringify(value) ?? '').slice(0, 64);

function auditOf(words: Partial<Record<SettingName, string>>): AgentOptions['audit'] {
  const to = words['audit.file'];
  if (to === undefined) return undefined;
  return { to, events: (words['audit.events'] as AuditEvents | undefined) ?? 'all' };
}

function isolationOf(given: AgentSettings): AgentOptions['isolation'] {
  const view = given['isolation.chroot'] as Record<string, string> | undefined;
  const allowed = given['isolation.allow_capabilities'] as readonly string[] | undefined;
  const uidRange = parseUidRange(String(given['isolation.uid_range'] ?? ''));
  const plain = allowed?.map((name) => name.toLowerCase().replace(/^cap_/, ''));
  const found = {
    view,
    allowedCapabilities: plain,
    allowsRoot: given['isolation.allow_root'],
    allowsHostPid: given['isolation.allow_host_pid'],
    allowsHostIpc: given['isolation.allow_host_ipc'],
    uidRange,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

function garbageOf(words: Partial<Record<SettingName, string>>): AgentOptions['garbage'] {
  const given = Object.entries(garbageOptions).flatMap(([name, option]) => {
    const text = words[`garbage_collection.${name as keyof typeof garbageOptions}`];
    return text === undefined ? [] : [[option, durationMs(parseDuration(text)!)]];
  });
  return Object.fromEntries(given);
}

function artifactsOf(given: AgentSettings): AgentOptions['artifacts'] {
  const bounds = Object.entries(artifactBounds).flatMap(([name, bound]) => {
    const value = given[`node.artifacts.${name as keyof typeof artifactBounds}`];
    if (value === undefined) return [];
    return [[bound, typeof value === 'string' ? durationMs(parseDuration(value)!) : value]];
  });
  const sources = given['node.artifacts.sources'] as readonly ArtifactSource[] | undefined;
  return { ...Object.fromEntries(bounds), ...(sources && { sources }) };
}

function dockerOf(given: AgentSettings): AgentOptions['docker'] {
  const milliseconds = (name: 'docker.image_delay' | 'docker.unreachable_timeout') => {
    const text = given[name] as string | undefined;
    return text && durationMs(parseDuration(text)!);
  };
  const found = {
    socket: given['docker.socket'],
    allowVolumes: given['docker.volumes'],
    allowPrivileged: given['docker.allow_privileged'],
    allowedCapabilities: given['docker.allow_caps'],
    imageDelayMs: milliseconds('docker.image_delay'),
    unreachableTimeoutMs: milliseconds('docker.unreachable_timeout'),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** The options of settings without faults; `run` holds the files that `run` names. */
export function agentOptions(given: AgentSettings, run: AgentOptions['run']): AgentOptions {
  const words = given as Partial<Record<SettingName, string>>;
  const dataDirectory = words.data_dir;
  const keeps = dataDirectory !== undefined;
  return {
    isDev: given.dev === true,
    mode: modeOf(given),
    servers: {
      addresses: (given.servers as readonly string[] | undefined) ?? [],
      introductionTokenFile: words.introduction_token_file,
      caCertificateFile: words.ca_cert,
      clientCertificateFile: words.client_cert,
      clientKeyFile: words.client_key,
    },
    http: parseHostPort(given.http) ?? { host: defaultHost, port: defaultPort },
    tls: tlsOf(given),
    dataDirectory,
    allowedHosts: (given['http.allowed_hosts'] as readonly string[] | undefined) ?? [],
    rootToken: words.root_token?.toLowerCase(),
    rootTokenFile: words.root_token_file,
    aclEnabled: given['acl.enabled'] !== false,
    aclDefaultPolicy: (words['acl.default_policy'] as DefaultPolicy | undefined) ?? 'deny',
    peering: {
      advertise: given['peering.advertise'] as readonly string[] | undefined,
      caFile: words['peering.ca_file'],
    },
    issuer: words['identity.issuer'],
    rootKeyFile: words['keyring.root_key_file'],
    audit: auditOf(words),
    region: words.region ?? 'global',
    node: {
      name: words['node.name'],
      datacenter: words['node.datacenter'] ?? 'dc1',
      class: words['node.class'] ?? '',
      pool: words['node.pool'] ?? 'default',
      meta: (given['node.meta'] as Record<string, string> | undefined) ?? {},
      isRemoteExecDisabled: given['node.disable_remote_exec'] === true,
      hostVolumes: hostVolumesOf(given['node.host_volume']),
    },
    drivers: allowedDrivers(given['drivers.allow'], given.dev === true),
    isolation: isolationOf(given),
    docker: dockerOf(given),
    garbage: garbageOf(words),
    artifacts: artifactsOf(given),
    tasksOnExit: (words.tasks_on_exit as AgentOptions['tasksOnExit']) ?? (keeps ? 'keep' : 'stop'),
    run,
    logLevel: (words.log_level as LogLevel | undefined) ?? 'info',
  };
}
