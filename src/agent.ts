/**
 * Puts the layers together: an agent is a server, a node, or both in one process. The `roster`
 * command uses it, and tests use it as a library for a control plane.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { DefaultPolicy } from './acl/authorizer.ts';
import { type NodeOptions, type RunningNode, startNode } from './agent-node.ts';
import { type NetworkSettings, otherServers } from './agent-servers.ts';
import { Api } from './api/api.ts';
import type { AuditOptions, AuditSink } from './api/audit.ts';
import { AuditFile } from './api/audit-file.ts';
import type { Answer, Request } from './api/http.ts';
import { type ConnectionLimits, isLoopback } from './api/http-server.ts';
import { holdPort } from './api/http-server-hold.ts';
import { certificateFaults, endOf, type ServerCertificate } from './api/server-certificate.ts';
import { formatInstant } from './base/instant.ts';
import type { World } from './base/ports.ts';
import { realWorld } from './base/ports-real.ts';
import { isUuid } from './model/acl-token/write.ts';
import { limits } from './model/limits.ts';
import { certificateFault } from './model/peering/token.ts';
import { readAddress } from './node/fingerprint/address.ts';
import type { NodeSettings } from './node/fingerprint/fingerprint.ts';
import { schedulerDefaults } from './scheduler/view.ts';
import type { TlsTrust } from './sdk/tls-trust.ts';
import { type Log, silentLog } from './server/context.ts';
import type { GarbageSettings } from './server/garbage/collector.ts';
import { Keyring, WrongRootKey } from './server/keyring/keyring.ts';
import { HttpOutbound } from './server/login/outbound-http.ts';
import type { HereServer } from './server/network/peer.ts';
import { ownIntroduction } from './server/nodes/introductions.ts';
import { advertisedAddresses } from './server/peering/advertise.ts';
import { webSocketTransport } from './server/peering/web-socket-link.ts';
import { Server } from './server/server.ts';
import type { LocalServers } from './server/servers-local.ts';
import type { Engine } from './state/engine/engine.ts';
import { MemoryDisk, MemoryEngine } from './state/engine/memory.ts';
import { SqliteEngine } from './state/engine/sqlite.ts';
import { openState } from './state/state.ts';
import { allTables, keyringKeys } from './state/tables.ts';
import type { State } from './state/types.ts';

export interface CreateAgentOptions extends NodeOptions {
  /** Where to listen; `undefined`: no port, requests come through `Agent.handle`. */
  readonly http?: { readonly host: string; readonly port: number } | undefined;
  /** The certificate for TLS; `undefined`: plain HTTP. */
  readonly certificate?: ServerCertificate | undefined;
  /** The node of this machine; `undefined`: a server alone. */
  readonly node?: NodeSettings | undefined;
  /** Name and datacenter of a server alone. */
  readonly server?: { readonly name?: string | undefined; readonly datacenter?: string };
  /** Where the state is made durable; the default is the data directory, or memory without one. */
  readonly engine?: Engine;
  /** The other servers, whose engines lead to the same log: of this process, or over the network. */
  readonly servers?: LocalServers | NetworkSettings;
  /** Secret of the first management token; `undefined`: only stored tokens are valid. */
  readonly rootToken?: string | undefined;
  /** Make a root token if none is given, and keep it in the data directory. */
  readonly makesRootToken?: boolean;
  /** The root key, 32 bytes that seal the keyring; `undefined`: the key in the data directory. */
  readonly rootKey?: Uint8Array | undefined;
  /** `to` is the path of a file, or a sink for lines; `undefined`: no audit log. */
  readonly audit?:
    | { readonly to: string | AuditSink; readonly events: AuditOptions['events'] }
    | undefined;
  /** The default is that of `limits.http`. */
  readonly connections?: ConnectionLimits;
  readonly aclEnabled?: boolean;
  /** The decision where no rule of a token applies; the default is `deny`. */
  readonly aclDefaultPolicy?: DefaultPolicy;
  /** The ages of garbage collection; the default is that of `limits.garbage`. */
  readonly garbage?: Partial<GarbageSettings>;
  /**
   * Host names of the server, besides those of this machine: `roster.example.com`, or
   * `.example.com` for all names below it. Requests without a token for other hosts are refused.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Addresses for other clusters, each `host:port`; the default is where the server listens. */
  readonly advertise?: readonly string[] | undefined;
  /**
   * Certificates (PEM) that other clusters have to trust, if a proxy in front of the server speaks TLS; the
   * default is the authority of `certificate`.
   */
  readonly peerAuthority?: string | undefined;
  /** The public address of the keys that sign workload tokens. */
  readonly issuer?: string | undefined;
}

export interface Agent {
  /** `http://host:port`, or `https://host:port` with a certificate; empty without a port. */
  readonly address: string;
  /** The trust in its certificate, for clients in this process. */
  readonly trust: TlsTrust;
  /** The given or generated root token. */
  readonly rootToken: string | undefined;
  readonly state: State;
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
}

/**
 * Starts an agent. Rejects with a `StateError` if the data directory cannot be used, and with
 * the system's error if it cannot listen on the port. Then nothing is left running. Nothing is
 * written before the port is taken.
 */
export async function createAgent(given: CreateAgentOptions): Promise<Agent> {
  const options = inPlace(given);
  const { world = realWorld, log = silentLog, version = '0.0.0', region = 'global' } = options;
  const { peerAuthority } = options;
  const fault = peerAuthority === undefined ? undefined : certificateFault(peerAuthority);
  if (fault !== undefined) throw new Error(`the authority that peers are to trust: ${fault}`);
  const opened: (() => Promise<unknown> | unknown)[] = [];
  const closeAll = async () => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  if (options.certificate !== undefined) requireRight(options.certificate, world, log);
  const used: { certificate: ServerCertificate | undefined } = { certificate: options.certificate };
  const own = () => used.certificate!;
  const trust: TlsTrust = options.certificate === undefined ? {} : { own };
  try {
    const release = options.http && (await holdPort(options.http));
    opened.push(() => release?.());
    const engine = options.engine ?? newEngine(options.dataDirectory, world);
    const state = await openState({
      tables: allTables,
      engine,
      timers: world.timers,
      report: (error) => log.warn({ error }, 'a snapshot of the state failed'),
    });
    opened.push(() => state.close());
    const rootKey = options.rootKey ?? (await keptRootKey(options.dataDirectory, state, world));
    const usesTls = options.certificate !== undefined;
    const others =
      options.servers && otherServers(options.servers, { world, log, version, rootKey, usesTls });
    const keyring =
      others === undefined
        ? await Keyring.open(state, rootKey, world)
        : Keyring.follow(state, rootKey, world);
    const outbound = new HttpOutbound(world.timers);
    opened.push(() => outbound.close());
    const { makesRootToken = false } = options;
    const rootToken =
      options.rootToken ??
      (makesRootToken ? await keptSecret(options.dataDirectory, 'root-token', world) : undefined);
    const datacenter = options.node?.datacenter ?? options.server?.datacenter ?? 'dc1';
    const server = new Server({
      ...(others && { servers: others.servers }),
      state,
      world,
      log,
      region,
      keyring,
      outbound: outbound.call,
      datacenter,
      peers: webSocketTransport,
      rootSecret: rootToken,
      issuer: options.issuer,
      scheduler: schedulerDefaults,
      garbage: options.garbage ?? {},
      ...(options.dataDirectory !== undefined && {
        bootstrapReset: resetFile(join(options.dataDirectory, 'acl-bootstrap-reset')),
      }),
    });
    const auditSink = (to: string | AuditSink): AuditSink => {
      if (typeof to !== 'string') return to;
      const file = new AuditFile(to, log);
      opened.push(() => file.close());
      return file;
    };
    let node: RunningNode | undefined;
    const api = new Api({
      server,
      version,
      node: () => node?.id,
      name: options.node?.name ?? options.server?.name ?? 'roster',
      acl: {
        enabled: options.aclEnabled ?? true,
        defaultPolicy: options.aclDefaultPolicy ?? 'deny',
        datacenter,
        secrets: world.secrets,
      },
      connections: options.connections ?? {
        perAddressMax: limits.http.connectionsPerAddressMax,
        perLoopbackMax: limits.http.connectionsPerLoopbackMax,
      },
      hosts: [
        hostname(),
        ...(options.allowedHosts ?? []),
        ...(options.advertise ?? []).map(nameOf),
      ],
      certificate: options.certificate,
      servers: others?.door,
      audit: options.audit && { sink: auditSink(options.audit.to), events: options.audit.events },
    });
    await server.start();
    opened.push(() => server.stop());
    release?.();
    const listening = options.http && (await api.listen(options.http.host, options.http.port));
    warnOfExposure(options, log);
    const scheme = options.certificate === undefined ? 'http' : 'https';
    const address = listening && `${scheme}://${listening}`;
    opened.push(() => api.close());
    const addresses = options.advertise ?? advertisedAddresses(listening, readAddress().ip);
    const trusted = peerAuthority ?? authorityOf(options.certificate);
    server.advertise({ addresses, caPems: trusted === undefined ? [] : [trusted] });
    const answer: HereServer['answer'] = async (asked, gone) =>
      api.answer({ ...asked, onGone: whenAborted(gone) });
    opened.push(
      others?.join({ state, streams: server.streams, answer }, listening ?? '') ?? (() => {}),
    );
    let tasks: 'stop' | 'keep' = 'stop';
    if (options.node !== undefined && address !== undefined) {
      node = await startNode(
        { ...options, node: options.node },
        { addresses: [address], introduction: ownIntroduction(server.context), ...trust },
      );
      opened.push(() => node?.close(tasks));
    }
    return {
      address: address ?? '',
      trust,
      rootToken,
      state,
      handle: async (request) => api.handle(request),
      close: async (fate) => {
        tasks = fate;
        await closeAll();
      },
      killTasks: async () => node?.killTasks(),
      renewCertificate: (certificate) => {
        if (used.certificate === undefined) throw new Error('the agent does not speak TLS');
        requireRight(certificate, world, log);
        api.renewCertificate(certificate);
        used.certificate = certificate;
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** A `Request.onGone` by a signal that aborts when the caller is gone. */
const whenAborted = (signal: AbortSignal) => (run: () => void) => {
  if (signal.aborted) run();
  signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
};

/** The name in `host:port`. */
const nameOf = (address: string): string => address.replace(/:\d+$/, '');

/** Warns of an API that is open to others. */
function warnOfExposure({ http, certificate, aclEnabled }: CreateAgentOptions, log: Log): void {
  if (aclEnabled === false) {
    log.warn({}, 'access control is off: whoever reaches the API may do everything');
  }
  if (http !== undefined && !isLoopback(http.host) && certificate === undefined) {
    const { host } = http;
    log.warn(
      { host },
      'the API listens beyond this machine without TLS: tokens can be read on the way',
    );
  }
}

/** The authorities of the certificate, or a self-signed certificate itself. */
const authorityOf = (certificate: ServerCertificate | undefined): string | undefined =>
  certificate && (certificate.authorities ?? certificate.certificate);

/** Refuses a faulty certificate. An expired certificate is used, since clients may accept it. */
function requireRight(certificate: ServerCertificate, world: World, log: Log): void {
  const faults = certificateFaults(certificate);
  if (faults.length > 0) throw new Error(`TLS cannot be spoken: ${faults.join('; ')}`);
  const end = endOf(certificate);
  if (end > world.clock.nowMs()) return;
  log.warn({ end: formatInstant(end) }, 'the certificate of the server has ended');
}

/** Tasks and their supervisor have another working directory than the agent. */
const inPlace = (options: CreateAgentOptions): CreateAgentOptions =>
  options.dataDirectory === undefined
    ? options
    : { ...options, dataDirectory: resolve(options.dataDirectory) };

function newEngine(dataDirectory: string | undefined, world: World): Engine {
  if (dataDirectory === undefined) return new MemoryEngine(new MemoryDisk(), world.timers);
  return new SqliteEngine({ directory: join(dataDirectory, 'server') });
}

const resetFile = (path: string) => ({
  async read(): Promise<string | undefined> {
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  },
  remove: () => rm(path, { force: true }),
});

/**
 * The root key of the data directory, 32 bytes, which seals the keyring. A new key is made only
 * for a state without a keyring, since it could not open an existing keyring.
 */
async function keptRootKey(
  dataDirectory: string | undefined,
  state: State,
  world: World,
): Promise<Uint8Array> {
  const make = () => {
    if (state.read().table(keyringKeys).size > 0) throw new WrongRootKey();
    return Buffer.from(world.secrets.bytes(rootKeyBytes)).toString('base64');
  };
  return parseRootKey(await kept(dataDirectory, 'root-key', make));
}

// Not in limits: the key length of the cipher.
const rootKeyBytes = 32;

/** @throws Error if the text is not 32 bytes in base64 */
export function parseRootKey(text: string): Uint8Array {
  const bytes = Buffer.from(text.trim(), 'base64');
  if (bytes.length === rootKeyBytes) return bytes;
  throw new Error(
    'the root key must be 32 bytes in base64, as "openssl rand -base64 32" makes them',
  );
}

/** @throws Error if the text is not a UUID */
export function parseRootToken(text: string): string {
  const token = text.trim().toLowerCase();
  if (isUuid(token)) return token;
  throw new Error('the file of the root token must hold a UUID, such as one made by "uuidgen"');
}

/** A secret that is generated once and kept in the data directory, readable only by its user. */
async function keptSecret(
  dataDirectory: string | undefined,
  name: string,
  world: Pick<World, 'secrets'>,
): Promise<string> {
  return kept(dataDirectory, name, () => world.secrets.uuid());
}

async function kept(
  dataDirectory: string | undefined,
  name: string,
  make: () => string,
): Promise<string> {
  if (dataDirectory === undefined) return make();
  const path = join(dataDirectory, name);
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const secret = make();
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await writeFile(path, `${secret}\n`, { mode: 0o600, flag: 'wx' });
  return secret;
}
