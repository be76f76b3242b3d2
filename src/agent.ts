/**
 * Puts the layers together: an agent is a server, a node, or both in one process. The `roster`
 * command uses it, and tests use it as a library for a control plane.
 */
import { join, resolve } from 'node:path';
import type { DefaultPolicy } from './acl/authorizer.ts';
import { auditSinkOf, newApi, readerSettingsOf, telemetryOf, warnOfExposure } from './agent-api.ts';
import { requireRight, requireRightAuthority } from './agent-certificate.ts';
import { deciderThreads } from './agent-deciding.ts';
import type { NodeOptions, RunningNode } from './agent-node.ts';
import { type Readers, readersOf } from './agent-readers.ts';
import { givenRootKey, keptRootKey, keptSecret, resetFile } from './agent-secrets.ts';
import {
  addressForServers,
  advertise,
  hereServer,
  introducing,
  type NetworkSettings,
  openLog,
  otherServers,
  settledLog,
  type Waiting,
} from './agent-servers.ts';
import type { TelemetrySettings } from './agent-telemetry.ts';
import type { UiSettings } from './agent-ui.ts';
import type { Api } from './api/api.ts';
import type { AuditedSignal, AuditOptions, AuditSink } from './api/audit.ts';
import type { Answer, Request } from './api/http.ts';
import type { ConnectionLimits } from './api/http-server.ts';
import { holdPort } from './api/http-server-hold.ts';
import { logFaultOf } from './api/log-health.ts';
import type { Reload } from './api/reload.ts';
import type { ServerCertificate } from './api/server-certificate.ts';
import { Opened } from './base/opened.ts';
import type { World } from './base/ports.ts';
import { realWorld } from './base/ports-real.ts';
import { refusal } from './model/errors.ts';
import { limits } from './model/limits.ts';
import { monitored } from './model/monitor/log-lines.ts';
import type { NodeSettings } from './node/fingerprint/fingerprint.ts';
import type { NodeChange } from './node/node-change.ts';
import { schedulerDefaults } from './scheduler/view.ts';
import type { TlsTrust } from './sdk/tls-trust.ts';
import { silentLog } from './server/context.ts';
import type { GarbageSettings } from './server/garbage/collector.ts';
import type { KeyService } from './server/keyring/key-service.ts';
import { Keyring } from './server/keyring/keyring.ts';
import { HttpOutbound } from './server/login/outbound-http.ts';
import { webSocketTransport } from './server/peering/web-socket-link.ts';
import { ThreadEnds } from './server/readers/thread-ends.ts';
import { Server } from './server/server.ts';
import { LocalServers } from './server/servers-local.ts';
import { snapshotDirectory } from './server/snapshots/directory.ts';
import { watchStore } from './server/store-watch.ts';
import type { Engine } from './state/engine/engine.ts';
import type { EtcdSettings } from './state/engine/etcd/open.ts';
import { MemoryDisk, MemoryEngine } from './state/engine/memory.ts';
import { SqliteEngine } from './state/engine/sqlite.ts';
import { newestVersions } from './state/form.ts';
import type { LogHealth } from './state/log-health.ts';
import { openState } from './state/state.ts';
import type { AnyDefinition } from './state/table.ts';
import { allTables, storedForm } from './state/tables.ts';
import type { State } from './state/types.ts';

export interface CreateAgentOptions extends NodeOptions {
  /** Where to listen; `undefined`: no port, requests come through `Agent.handle`. */
  readonly http?: { readonly host: string; readonly port: number } | undefined;
  /** The certificate for TLS; `undefined`: plain HTTP. */
  readonly certificate?: ServerCertificate | undefined;
  /** The collector of traces; `undefined`: nothing is traced. */
  readonly telemetry?: TelemetrySettings | undefined;
  /** The settings that `GET /v1/agent/self` shows; without secrets. */
  readonly configuration?: (() => object) | undefined;
  /** The node of this machine; `undefined`: a server alone. */
  readonly node?: NodeSettings | undefined;
  /** Name and datacenter of a server alone. */
  readonly server?: { readonly name?: string | undefined; readonly datacenter?: string };
  /** Where the state is made durable; the default is the data directory, or memory without one. */
  readonly engine?: Engine;
  /** A log in etcd, which several servers may share; `undefined`: the data directory. */
  readonly etcd?: EtcdSettings | undefined;
  /** The tables of another build of the program, for tests. */
  readonly tables?: readonly AnyDefinition[];
  /** The other servers, whose engines lead to the same log: of this process, or over the network. */
  readonly servers?: LocalServers | NetworkSettings;
  /** The age of its state from which on the server answers no `stale` requests; the default is that of `limits.servers`. */
  readonly staleMaxMs?: number | undefined;
  /** With `etcd`: how this server and the others reach each other. */
  readonly network?: Pick<NetworkSettings, 'address' | 'allowsPlaintext'>;
  /** Secret of the first management token; `undefined`: only stored tokens are valid. */
  readonly rootToken?: string | undefined;
  /** Make a root token if none is given, and keep it in the data directory. */
  readonly makesRootToken?: boolean;
  /**
   * The root key, 32 bytes that seal the keyring, or the service that opens it; `undefined`: the key in
   * the data directory.
   */
  readonly rootKey?: Uint8Array | KeyService | undefined;
  /** Gives up a start that still waits for the root key or for the log. */
  readonly signal?: AbortSignal;
  /** `to` is the path of a file, or a sink for lines; `undefined`: no audit log. */
  readonly audit?:
    | { readonly to: string | AuditSink; readonly events: AuditOptions['events'] }
    | undefined;
  /**
   * Threads that answer reads from copies of the state, for a log in the data directory or in memory and with a
   * port; the default: none.
   */
  readonly readers?: number;
  /** Whether a thread of its own, with a copy of the state, decides evaluations; the default: the main thread decides. */
  readonly decider?: boolean;
  /** The default is that of `limits.http`. */
  readonly connections?: ConnectionLimits;
  readonly aclEnabled?: boolean;
  /** The decision where no rule of a token applies; the default is `deny`. */
  readonly aclDefaultPolicy?: DefaultPolicy;
  /** Snapshots on a schedule; `undefined`: none. */
  readonly snapshots?: SnapshotOptions | undefined;
  /** The ages of garbage collection; the default is that of `limits.garbage`. */
  readonly garbage?: Partial<GarbageSettings>;
  /**
   * Host names of the server, besides those of this machine: `roster.example.com`, or
   * `.example.com` for all names below it. Requests without a token for other hosts are refused.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Addresses for other clusters, each `host:port`; the default is where the server listens. */
  readonly advertise?: readonly string[] | undefined;
  /** Answers `PUT /v1/agent/reload`: reads the configuration again, and calls `Agent.configure`. */
  readonly reload?: Reload | undefined;
  /**
   * Certificates (PEM) that other clusters have to trust, if a proxy in front of the server speaks TLS; the
   * default is the authority of `certificate`.
   */
  readonly peerAuthority?: string | undefined;
  /** The public address of the keys that sign workload tokens. */
  readonly issuer?: string | undefined;
  /** The web interface, which is served below `/ui/` by default. */
  readonly ui?: UiSettings | undefined;
}

/** Snapshots that the server saves from time to time while it leads. */
export interface SnapshotOptions {
  readonly directory: string;
  readonly intervalMs: number;
  /** The number of snapshots that are kept. */
  readonly keep: number;
}

/** Settings that a running agent takes. */
export type AgentChange = NodeChange & {
  readonly isVerbose: boolean;
  readonly ui?: Pick<UiSettings, 'label' | 'color'>;
};

export interface Agent {
  /** `http://host:port`, or `https://host:port` with a certificate; empty without a port. */
  readonly address: string;
  /** The trust in its certificate, for clients in this process. */
  readonly trust: TlsTrust;
  /** The given or generated root token. */
  readonly rootToken: string | undefined;
  readonly state: State;
  /** Why it answers nothing, or not all, as the end of "It answers, but"; `undefined`: it answers. */
  readonly fault: string | undefined;
  /** Serves one request in process. */
  handle(request: Request): Promise<Answer>;
  /** `stop` ends the running tasks first, `keep` leaves them to their supervisor. */
  close(tasks: 'stop' | 'keep'): Promise<void>;
  /** Kills every task at once, also during `close`. Resolves when all have ended. */
  killTasks(): Promise<void>;
  /**
   * Uses another certificate from the next connection on.
   * @throws Error if the certificate is faulty, or the agent speaks no TLS
   */
  renewCertificate(certificate: ServerCertificate): void;
  /** Takes other settings of its node while tasks run, and logs messages of the level debug or not. */
  configure(change: AgentChange): Promise<void>;
  /** Notes a signal in the audit log. */
  auditSignal(signal: AuditedSignal): void;
}

/**
 * Starts an agent. Rejects with a `StateError` if the data directory cannot be used, and with
 * the system's error if it cannot listen on the port. Then nothing is left running. Nothing is
 * written before the port is taken.
 */
export async function createAgent(given: CreateAgentOptions): Promise<Agent> {
  const options = withDefaults(given);
  requireRightAuthority(options.peerAuthority);
  if (options.certificate !== undefined) requireRight(options.certificate, options);
  const opened = new Opened();
  try {
    return await openAgent(options, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

type Settled = ReturnType<typeof withDefaults>;

const withDefaults = ({ world = realWorld, log = silentLog, ...options }: CreateAgentOptions) => ({
  ...options,
  world,
  log: monitored(log, world.clock),
  threadEnds: new ThreadEnds(),
  version: options.version ?? '0.0.0',
  region: options.region ?? 'global',
  datacenter: options.node?.datacenter ?? options.server?.datacenter ?? 'dc1',
  // Tasks and their supervisor have another working directory than the agent.
  dataDirectory: options.dataDirectory && resolve(options.dataDirectory),
});

async function openAgent(options: Settled, opened: Opened): Promise<Agent> {
  const used = { certificate: options.certificate };
  const trust: TlsTrust = used.certificate === undefined ? {} : { own: () => used.certificate! };
  let refused = refusal('no-leader');
  const waiting = (reason: string) => {
    refused = refusal('not-ready', { reason });
  };
  const { http, certificate } = options;
  const release = http && (await holdPort({ ...http, certificate }, () => refused));
  opened.add(() => release?.());
  const prepared = await preparedNode(options, opened);
  const rootKey = await givenRootKey(options.rootKey, options, waiting);
  const opening = openServer({ ...options, rootKey, waiting }, opened);
  const { server, state, others, rootToken, log, readers, rootKey: key } = await opening;
  let node: RunningNode | undefined;
  const sink = auditSinkOf(options, opened);
  const telemetry = await telemetryOf(options, state, opened);
  const own = { server, log, ...ofNode(() => node), servers: others?.door, telemetry };
  const api = newApi(options, { ...own, sink, ...readers?.apiParts }, opened);
  await server.start();
  opened.add(() => server.stop());
  opened.add(watchStore({ state, timers: options.world.timers, log: options.log }));
  const settings = readerSettingsOf(options, key);
  const isFed = await readers?.begin({ server, api, sink, settings, telemetry });
  opened.add(() => readers?.close());
  release?.();
  const listening = http && (await (isFed === true ? readers!.listen(http) : api.listen(http)));
  warnOfExposure(options);
  opened.add(() => api.close());
  advertise(server, options, listening);
  const here = hereServer(server, api);
  const leave = others?.join(here, addressForServers(options, listening));
  opened.add(() => leave?.());
  server.beHeard();
  const scheme = options.certificate === undefined ? 'http' : 'https';
  const address = listening && `${scheme}://${listening}`;
  let tasks: 'stop' | 'keep' = 'stop';
  if (prepared !== undefined && address !== undefined) {
    const introduction = introducing(server);
    node = await prepared.start({ addresses: [address], introduction, ...trust });
    opened.add(() => node?.close(tasks));
  }
  // Without another server there is nobody to hand over to.
  opened.add(() => server.handOver.run(0, true).catch(() => {}));
  return {
    address: address ?? '',
    trust,
    rootToken,
    state,
    get fault() {
      return faultOf(server, log);
    },
    handle: async (request) => api.handle(request),
    close: async (fate) => {
      tasks = fate;
      await opened.close();
    },
    killTasks: async () => node?.killTasks(),
    renewCertificate: (certificate) => {
      if (used.certificate === undefined) throw new Error('the agent does not speak TLS');
      requireRight(certificate, options);
      api.renewCertificate(certificate);
      readers?.renew(certificate);
      used.certificate = certificate;
    },
    configure: configuring(api, readers, () => node),
    auditSignal: (signal) => api.auditSignal(signal),
  };
}

/** The node finds out about its machine while the server opens its state, and touches no task before that is open. */
async function preparedNode({ node, http, ...options }: Settled, opened: Opened) {
  if (node === undefined || http === undefined) return undefined;
  const { prepareNode } = await import('./agent-node.ts');
  const prepared = prepareNode({ ...options, node, telemetry: undefined });
  opened.add(() => prepared.close());
  return prepared;
}

const faultOf = ({ silence }: Server, log: (() => LogHealth) | undefined): string | undefined =>
  silence === undefined ? log && logFaultOf(log()) : `with errors alone: ${silence}`;

const ofNode = (node: () => RunningNode | undefined) => ({
  node: () => node()?.id,
  metricsOfNode: () => node()?.metrics(),
});

const configuring =
  (
    api: Api,
    readers: Readers | undefined,
    node: () => RunningNode | undefined,
  ): Agent['configure'] =>
  async ({ ui, ...change }) => {
    if (ui !== undefined) api.ui.look = ui;
    readers?.setVerbose(change.isVerbose);
    await node()?.configure(change);
  };

/** The server over its opened state. It is not started yet. */
async function openServer(
  options: Settled & Waiting & { readonly rootKey: Uint8Array | undefined },
  opened: Opened,
) {
  const { dataDirectory, world, log, version, threadEnds, makesRootToken = false } = options;
  const etcd = options.etcd && (await openLog(options, options.etcd, opened));
  const given = options.engine ?? etcd?.engine ?? newEngine(options);
  const readers = readersOf(options, given);
  const engine: Engine = readers?.feeding ?? given;
  const state = await openState({
    tables: options.tables ?? allTables,
    form: storedForm,
    engine,
    timers: world.timers,
    clock: world.clock,
    stopwatch: world.clock,
    ...(etcd && { limits: limits.sharedLog }),
    report: (error) => log.warn({ error }, 'a snapshot of the state failed'),
  });
  opened.add(() => state.close());
  opened.add(() => etcd?.members.settled());
  await settledLog(etcd, options, state);
  const isAlone = options.servers === undefined && engine.end === undefined;
  const rootKey = options.rootKey ?? (await keptRootKey(dataDirectory, state, world, isAlone));
  const usesTls = options.certificate !== undefined;
  // Other processes may lead a log that this one does not hold alone.
  const listed = etcd && { membership: etcd.members, ...options.network };
  const known = options.servers ?? listed ?? (engine.end && new LocalServers(world));
  const ageMs = etcd?.engine.health.ageMs;
  const others = known && otherServers(known, { world, log, version, rootKey, usesTls, ageMs });
  const keyring =
    others === undefined
      ? await Keyring.open(state, rootKey, world)
      : Keyring.follow(state, rootKey, world);
  const outbound = new HttpOutbound(world.timers);
  opened.add(() => outbound.close());
  const rootToken =
    options.rootToken ??
    (makesRootToken ? await keptSecret(dataDirectory, 'root-token', world) : undefined);
  const server = new Server({
    ...(others && { servers: others.servers }),
    readers,
    ...(options.decider && { startDecider: deciderThreads({ world, log, ends: threadEnds }) }),
    threadEnds: readers || options.decider ? threadEnds : undefined,
    state,
    world,
    stopwatch: world.clock,
    log,
    region: options.region,
    keyring,
    version,
    outbound: outbound.call,
    datacenter: options.datacenter,
    peers: webSocketTransport,
    rootSecret: rootToken,
    issuer: options.issuer,
    isHeardLater: true,
    staleMaxMs: options.staleMaxMs,
    ...(etcd && { logContactMs: () => etcd.engine.health.contactMs }),
    ...(options.tables && { tables: newestVersions(options.tables) }),
    scheduler: schedulerDefaults,
    garbage: options.garbage ?? {},
    ...(options.snapshots && { snapshots: scheduleOf(options.snapshots, world) }),
    ...(dataDirectory !== undefined && {
      bootstrapReset: resetFile(join(dataDirectory, 'acl-bootstrap-reset')),
    }),
  });
  const health = etcd && (() => etcd.engine.health);
  return { server, state, others, rootToken, log: health, readers, rootKey };
}

function newEngine({ dataDirectory, world, version }: Settled): Engine {
  if (dataDirectory === undefined) return new MemoryEngine(new MemoryDisk(), world.timers);
  return new SqliteEngine({ directory: join(dataDirectory, 'server'), program: version });
}

const scheduleOf = ({ directory, ...settings }: SnapshotOptions, { ids }: World) => ({
  ...settings,
  store: snapshotDirectory(resolve(directory), ids),
});
