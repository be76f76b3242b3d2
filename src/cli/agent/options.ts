import type { DefaultPolicy } from '../../acl/authorizer.ts';
import { durationMs, parseDuration } from '../../base/duration.ts';
import { limits } from '../../model/limits.ts';
import type { LogLevel } from '../../model/monitor/log-level.ts';
import type { NodeCapacity } from '../../model/node/node-capacity.ts';
import { parseUidRange, type UidRange } from '../../model/node/uid-range.ts';
import type { ArtifactSource } from '../../model/task/files.ts';
import type { HostVolumes } from '../../model/volume/host-volume.ts';
import type { JobRegistration } from '../../sdk/client.ts';
import { allowedDrivers } from './drivers.ts';
import { type EtcdOptions, etcdOf } from './engine-settings.ts';
import { hostVolumesOf } from './host-volumes.ts';
import { type KeyServiceOptions, keyServiceOf } from './keyring-settings.ts';
import { type AgentMode, modeOf } from './modes.ts';
import { capacityOf } from './node-capacity.ts';
import {
  type AgentSettings,
  type AuditEvents,
  defaultHost,
  parseHostPort,
  type SettingName,
} from './settings.ts';

/** The checked options of an agent. */
export interface AgentOptions {
  /** Make a root token and print it; store nothing unless there is a data directory. */
  readonly isDev: boolean;
  readonly mode: AgentMode;
  readonly http: { readonly host: string; readonly port: number };
  /** Host names that requests may use, besides those of the machine. */
  readonly allowedHosts: readonly string[];
  /** The web interface, and the environment that it shows. */
  readonly ui: {
    readonly isEnabled: boolean;
    readonly label: string | undefined;
    readonly color: string | undefined;
  };
  /** `undefined`: the agent speaks no TLS. */
  readonly tls: TlsFiles | undefined;
  /** How a node alone reaches its servers. */
  readonly servers: {
    readonly addresses: readonly string[];
    readonly introductionTokenFile: string | undefined;
    readonly caCertificateFile: string | undefined;
    readonly clientCertificateFile: string | undefined;
    readonly clientKeyFile: string | undefined;
  };
  /** `undefined` only with `isDev`: nothing is stored. */
  readonly dataDirectory: string | undefined;
  /** The log in etcd; `undefined`: the state is in the data directory. */
  readonly etcd: EtcdOptions | undefined;
  /** Threads that answer reads; `undefined`: as many as suit the machine and the state. */
  readonly readers: number | undefined;
  /** Whether a thread of its own decides evaluations; `undefined`: as suits the machine and the state. */
  readonly decider: boolean | undefined;
  /** A UUID, in lower case. */
  readonly rootToken: string | undefined;
  /** A file with the root token, instead of `rootToken`. */
  readonly rootTokenFile: string | undefined;
  readonly aclEnabled: boolean;
  /** The decision where no rule of a token applies. */
  readonly aclDefaultPolicy: DefaultPolicy;
  /** The root key in base64, its file, or the service that opens it; none: it is in the data directory. */
  readonly rootKey: string | undefined;
  readonly rootKeyFile: string | undefined;
  readonly keyService: KeyServiceOptions | undefined;
  /** `to` is `stdout` or a file; `undefined`: no audit log. */
  readonly audit: { readonly to: string; readonly events: AuditEvents } | undefined;
  /** A collector of traces; `undefined`: there is none. */
  readonly telemetry:
    | { readonly endpoint: string; readonly headersFile: string | undefined }
    | undefined;
  readonly region: string;
  /** How other clusters reach this one. */
  readonly peering: {
    /** Each `host:port`; `undefined`: where the agent listens. */
    readonly advertise: readonly string[] | undefined;
    /** PEM that other clusters have to trust, if a proxy speaks TLS for the agent. */
    readonly caFile: string | undefined;
  };
  /** The public address of the keys of workload tokens. */
  readonly issuer: string | undefined;
  readonly node: NodeCapacity & {
    /** `undefined`: the machine's name. */
    readonly name: string | undefined;
    readonly datacenter: string;
    readonly class: string;
    readonly pool: string;
    readonly meta: Readonly<Record<string, string>>;
    /** No token may run commands in tasks of this node. */
    readonly isRemoteExecDisabled: boolean;
    /** Directories that tasks may mount, by name. */
    readonly hostVolumes: HostVolumes;
  };
  /** The drivers of the node; `allow` absent: all but `raw_exec`. */
  readonly drivers: { readonly allow?: readonly string[] };
  /** Given settings for isolated tasks. */
  readonly isolation: {
    readonly view?: Readonly<Record<string, string>>;
    readonly allowedCapabilities?: readonly string[];
    readonly uidRange?: UidRange;
    readonly allowsRoot?: boolean;
    readonly allowsHostPid?: boolean;
    readonly allowsHostIpc?: boolean;
  };
  /** Given settings for tasks in containers. */
  readonly docker: {
    readonly socket?: string;
    readonly allowVolumes?: boolean;
    readonly allowPrivileged?: boolean;
    readonly allowedCapabilities?: readonly string[];
    readonly imageDelayMs?: number;
    readonly unreachableTimeoutMs?: number;
  };
  /** Snapshots on a schedule; `undefined`: none. */
  readonly snapshots:
    | { readonly directory: string; readonly intervalMs: number; readonly keep: number }
    | undefined;
  /** Given ages of garbage collection. */
  readonly garbage: Partial<Record<GarbageOption, number>>;
  /** Given sources and limits of artifacts. */
  readonly artifacts: Partial<Record<ArtifactBound, number>> & {
    readonly sources?: readonly ArtifactSource[];
  };
  /** Whether running tasks stop when the agent ends. */
  readonly tasksOnExit: 'stop' | 'keep';
  /** Jobs to register when the agent is ready, unless they exist. */
  readonly run: readonly { readonly path: string; readonly registration: JobRegistration }[];
  readonly logLevel: LogLevel;
}

/** In PEM form. */
export interface TlsFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Certificate authorities of clients. */
  readonly authorityFile: string | undefined;
  readonly verifiesClients: boolean;
}

/** The settings below `garbage_collection`, with their options. */
const garbageOptions = {
  interval: 'intervalMs',
  job_age: 'jobAgeMs',
  evaluation_age: 'evaluationAgeMs',
  batch_evaluation_age: 'batchEvaluationAgeMs',
  deployment_age: 'deploymentAgeMs',
  node_age: 'nodeAgeMs',
} as const;
type GarbageOption = (typeof garbageOptions)[keyof typeof garbageOptions];

/** The limits below `node.artifacts`, with their options; durations end in `Ms`. */
const artifactBounds = {
  http_timeout: 'httpTimeoutMs',
  git_timeout: 'gitTimeoutMs',
  download_bytes: 'downloadBytesMax',
  files: 'filesMax',
  unpacked_bytes: 'unpackedBytesMax',
  ratio: 'ratioMax',
} as const;
type ArtifactBound = (typeof artifactBounds)[keyof typeof artifactBounds];

const defaultPort = 4720;

function tlsOf(given: AgentSettings): AgentOptions['tls'] {
  const words = given as Partial<Record<SettingName, string>>;
  const certificateFile = words['tls.cert_file'];
  const keyFile = words['tls.key_file'];
  if (certificateFile === undefined || keyFile === undefined) return undefined;
  return {
    certificateFile,
    keyFile,
    authorityFile: words['tls.ca_file'],
    verifiesClients: given['tls.verify_client'] === true,
  };
}

function auditOf(words: Partial<Record<SettingName, string>>): AgentOptions['audit'] {
  const to = words['audit.file'];
  if (to === undefined) return undefined;
  return { to, events: (words['audit.events'] as AuditEvents | undefined) ?? 'all' };
}

function telemetryOf(words: Partial<Record<SettingName, string>>): AgentOptions['telemetry'] {
  const endpoint = words['telemetry.otlp.endpoint'];
  if (endpoint === undefined) return undefined;
  return { endpoint, headersFile: words['telemetry.otlp.headers_file'] };
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

function snapshotsOf(given: AgentSettings): AgentOptions['snapshots'] {
  const words = given as Partial<Record<SettingName, string>>;
  const directory = words['snapshots.directory'];
  if (directory === undefined) return undefined;
  const interval = words['snapshots.interval'];
  const { intervalMs, kept } = limits.snapshot;
  return {
    directory,
    intervalMs: interval === undefined ? intervalMs : durationMs(parseDuration(interval)!),
    keep: Number(given['snapshots.keep'] ?? kept),
  };
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

function readersOf({ readers, dev }: AgentSettings): AgentOptions['readers'] {
  if (readers !== undefined) return Number(readers);
  return dev === true ? 0 : undefined;
}

function deciderOf({ decider, dev }: AgentSettings): AgentOptions['decider'] {
  if (decider !== undefined) return decider === true;
  return dev === true ? false : undefined;
}

/** The options of valid settings; `run` has the job files of the setting `run`. */
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
    ui: {
      isEnabled: given['ui.enabled'] !== false,
      label: words['ui.label'],
      color: words['ui.color'],
    },
    tls: tlsOf(given),
    dataDirectory,
    etcd: etcdOf(given),
    readers: readersOf(given),
    decider: deciderOf(given),
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
    rootKey: words['keyring.root_key'],
    rootKeyFile: words['keyring.root_key_file'],
    keyService: keyServiceOf(given),
    audit: auditOf(words),
    telemetry: telemetryOf(words),
    region: words.region ?? 'global',
    node: {
      name: words['node.name'],
      datacenter: words['node.datacenter'] ?? 'dc1',
      class: words['node.class'] ?? '',
      pool: words['node.pool'] ?? 'default',
      meta: (given['node.meta'] as Record<string, string> | undefined) ?? {},
      isRemoteExecDisabled: given['node.disable_remote_exec'] === true,
      hostVolumes: hostVolumesOf(given['node.host_volume']),
      ...capacityOf(given),
    },
    drivers: allowedDrivers(given['drivers.allow'], given.dev === true),
    isolation: isolationOf(given),
    docker: dockerOf(given),
    snapshots: snapshotsOf(given),
    garbage: garbageOf(words),
    artifacts: artifactsOf(given),
    tasksOnExit: (words.tasks_on_exit as AgentOptions['tasksOnExit']) ?? (keeps ? 'keep' : 'stop'),
    run,
    logLevel: (words.log_level as LogLevel | undefined) ?? 'info',
  };
}
