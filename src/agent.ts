/**
 * Puts the layers together: an agent is a server, a node, or both in one process. Used by the
 * `roster` command and, as a library, by whoever wants a control plane inside a test.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { DefaultPolicy } from './acl/authorizer.ts';
import { type NodeOptions, type RunningNode, startNode } from './agent-node.ts';
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
import { ownIntroduction } from './server/nodes/introductions.ts';
import { advertisedAddresses } from './server/peering/advertise.ts';
import { webSocketTransport } from './server/peering/web-socket-link.ts';
import { Server } from './server/server.ts';
import type { Engine } from './state/engine/engine.ts';
import { MemoryDisk, MemoryEngine } from './state/engine/memory.ts';
import { SqliteEngine } from './state/engine/sqlite.ts';
import { openState } from './state/state.ts';
import { allTables, keyringKeys } from './state/tables.ts';
import type { State } from './state/types.ts';

export interface CreateAgentOptions extends NodeOptions {
  /** Where to listen; `undefined`: no port, requests come through `Agent.handle`. */
  readonly http?: { readonly host: string; readonly port: number } | undefined;
  /** What TLS is spoken with; `undefined`: requests come as plain HTTP. */
  readonly certificate?: ServerCertificate | undefined;
  /** What this machine contributes as a node; `undefined`: nothing, it is a server alone. */
  readonly node?: NodeSettings | undefined;
  /** What a server alone is called, and where it is. */
  readonly server?: { readonly name?: string | undefined; readonly datacenter?: string };
  /** Secret of the first management token; `undefined`: there is none but those that are stored. */
  readonly rootToken?: string | undefined;
  /** Where none is given, make one; it is kept in the data directory. */
  readonly makesRootToken?: boolean;
  /** 32 bytes that the keyring is sealed under; `undefined`: those in the data directory. */
  readonly rootKey?: Uint8Array | undefined;
  /** Where the audit log goes: a file's path, or what takes its lines; `undefined`: nowhere. */
  readonly audit?:
    | { readonly to: string | AuditSink; readonly events: AuditOptions['events'] }
    | undefined;
  /** How many connections one address may hold; the default is that of `limits.http`. */
  readonly connections?: ConnectionLimits;
  readonly aclEnabled?: boolean;
  /** What decides where no rule of a token speaks; the default is `deny`. */
  readonly aclDefaultPolicy?: DefaultPolicy;
  /** How long is kept what nobody needs; the default is that of `limits.garbage`. */
  readonly garbage?: Partial<GarbageSettings>;
  /**
   * Names under which the server is asked, besides those of this machine: `roster.example.com`, or
   * `.example.com` for all below it. Requests without a token that name another host are refused.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Where other clusters reach this server, each `host:port`; the default is where it listens. */
  readonly advertise?: readonly string[] | undefined;
  /**
   * Certificates (PEM) that other clusters are to trust there, where something in front of the server
   * speaks TLS; the default is that they come without.
   */
  readonly peerAuthority?: string | undefined;
  /** The address under which others find the keys that workloads' tokens are signed with. */
  readonly issuer?: string | undefined;
}

export interface Agent {
  /** `http://host:port`, or `https://host:port` with a certificate; empty when it does not listen. */
  readonly address: string;
  /** How clients in this process know its certificate. */
  readonly trust: TlsTrust;
  /** The one that was given or made. */
  readonly rootToken: string | undefined;
  readonly state: State;
  /** Serves one request in process. */
  handle(request: Request): Promise<Answer>;
  /** `stop` ends the running tasks first, `keep` leaves them to their supervisor. */
  close(tasks: 'stop' | 'keep'): Promise<void>;
  /** Kills every task at once, also while `close` gives them time. Resolves when they are gone. */
  killTasks(): Promise<void>;
  /**
   * Speaks TLS with another certificate from the next connection on.
   * @throws Error when there is something wrong with it, or there was none before
   */
  renewCertificate(certificate: ServerCertificate): void;
}

/**
 * Starts an agent. Rejects with a `StateError` when the data directory cannot be used, and with
 * the system's error when the port cannot be had; nothing is left running then, and nothing is
 * written before the port is had.
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
    const engine = newEngine(options.dataDirectory, world);
    const state = await openState({
      tables: allTables,
      engine,
      timers: world.timers,
      report: (error) => log.warn({ error }, 'a snapshot of the state failed'),
    });
    opened.push(() => state.close());
    const rootKey = options.rootKey ?? (await keptRootKey(options.dataDirectory, state, world));
    const keyring = await Keyring.open(state, rootKey, world);
    const outbound = new HttpOutbound(world.timers);
    opened.push(() => outbound.close());
    const { makesRootToken = false } = options;
    const rootToken =
      options.rootToken ??
      (makesRootToken ? await keptSecret(options.dataDirectory, 'root-token', world) : undefined);
    const datacenter = options.node?.datacenter ?? options.server?.datacenter ?? 'dc1';
    const server = new Server({
      state, world, log, region, keyring, outbound: outbound.call,
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
      server, version,
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
    server.peerings.advertise({ addresses, caPems: trusted === undefined ? [] : [trusted] });
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

/** The name in `host:port`. */
const nameOf = (address: string): string => address.replace(/:\d+$/, '');

/** What whoever starts it should know of who may reach it. */
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

/** What others are to trust: who issued the certificate, or the certificate where nobody else did. */
const authorityOf = (certificate: ServerCertificate | undefined): string | undefined =>
  certificate && (certificate.authorities ?? certificate.certificate);

/** One that has ended is used all the same, since clients may choose not to mind. */
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
 * The key that the keyring is sealed under, 32 bytes, from the data directory. One is made only
 * for a state that has no keyring: another than the one it was sealed under would be of no use.
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

const rootKeyBytes = 32;

/** @throws Error when the text is not 32 bytes in base64. */
export function parseRootKey(text: string): Uint8Array {
  const bytes = Buffer.from(text.trim(), 'base64');
  if (bytes.length === rootKeyBytes) return bytes;
  throw new Error(
    'the root key must be 32 bytes in base64, as "openssl rand -base64 32" makes them',
  );
}

/** @throws Error when the text of the file is no UUID. */
export function parseRootToken(text: string): string {
  const token = text.trim().toLowerCase();
  if (isUuid(token)) return token;
  throw new Error('the file of the root token must hold a UUID, such as one made by "uuidgen"');
}

/** A secret that is made once and kept in the data directory, readable by its user only. */
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
