/** Puts together the way of a server to its log and to the other servers of its cluster. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { authorityOf } from './agent-certificate.ts';
import { opensKeyring } from './agent-secrets.ts';
import type { Api } from './api/api.ts';
import { isLoopback } from './api/http-server.ts';
import type { ServerCertificate } from './api/server-certificate.ts';
import type { ServersDoor } from './api/servers-stream.ts';
import type { Opened } from './base/opened.ts';
import type { World } from './base/ports.ts';
import { limits } from './model/limits.ts';
import { readAddress } from './node/fingerprint/address.ts';
import { lagsOf } from './server/attention/cluster.ts';
import type { Log } from './server/context.ts';
import { ownHealth } from './server/health.ts';
import type { ServersTransport } from './server/network/link.ts';
import type { Membership } from './server/network/membership.ts';
import { type NetworkOptions, NetworkServers } from './server/network/network-servers.ts';
import type { HereServer } from './server/network/peer.ts';
import { webSocketServers } from './server/network/web-socket-link.ts';
import { ownIntroduction } from './server/nodes/introductions.ts';
import { advertisedAddresses } from './server/peering/advertise.ts';
import type { Server } from './server/server.ts';
import type { Servers } from './server/servers.ts';
import { LocalServers } from './server/servers-local.ts';
import type { EtcdSettings, OpenedEtcd } from './state/engine/etcd/open.ts';
import { StateError } from './state/errors.ts';
import type { State } from './state/types.ts';

/** The other servers are processes of their own, which are reached over the network. */
export interface NetworkSettings {
  readonly membership: Membership;
  /** Id of this server; the default is new with each start. */
  readonly id?: string;
  /** `host:port` for the other servers; the default is where this server listens. */
  readonly address?: string;
  /** Speak to other machines without TLS. */
  readonly allowsPlaintext?: boolean;
  /** The way to the other servers; the default is WebSockets. */
  readonly transport?: ServersTransport;
  /** Whether an address belongs to this machine; the default knows the loopback addresses. */
  readonly isNear?: (host: string) => boolean;
  /** Replaces the proof of the root key. Only tests set it, to show the attack that the proof prevents. */
  readonly prove?: NetworkOptions['prove'];
}

export interface OtherServers {
  readonly servers: Servers;
  /** Where the other servers come in; `undefined`: they are in this process. */
  readonly door: ServersDoor | undefined;
  /** Makes this server known at its address. Returns the function that ends this. */
  join(here: HereServer, address: string): () => void;
}

export function otherServers(
  given: LocalServers | NetworkSettings,
  options: {
    readonly world: World;
    readonly log: Log;
    readonly version: string;
    readonly rootKey: Uint8Array;
    readonly usesTls: boolean;
    /** Since the state was last known to be the newest, at the start. */
    readonly ageMs: number | undefined;
  },
): OtherServers {
  const { usesTls, world, ...rest } = options;
  if (given instanceof LocalServers) {
    const id = world.ids.uuid();
    return {
      servers: given.of(id),
      door: undefined,
      join: (here, address) => given.join({ ...here, id, address: () => address }),
    };
  }
  const { membership, id = world.ids.uuid(), allowsPlaintext = false, isNear = isLoopback } = given;
  const transport = given.transport ?? webSocketServers({ usesTls, allowsPlaintext, isNear });
  const { prove } = given;
  const servers = new NetworkServers({
    ...rest,
    world,
    id,
    membership,
    transport,
    ...(prove && { prove }),
  });
  return {
    servers,
    door: { accept: (link) => servers.accept(link), allowsPlaintext, isNear },
    join: (here, address) => {
      servers.join(here, given.address ?? address);
      return () => servers.stop();
    },
  };
}

/** The parts of this server that the others reach. */
export const hereServer = (server: Server, api: Api): HereServer => ({
  state: server.context.state,
  streams: server.streams,
  version: server.version,
  tables: server.tables,
  answer: async (asked, gone) => api.answer({ ...asked, onGone: whenAborted(gone) }),
  introduceNode: ownIntroduction(server.context),
  health: () => ownHealth(server),
  lags: () => lagsOf(server),
  silentMs: () => server.silentMs,
});

/** A `Request.onGone` by a signal that aborts when the caller is gone. */
const whenAborted = (signal: AbortSignal) => (run: () => void) => {
  if (signal.aborted) run();
  signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
};

export interface Waiting {
  /** Told why the start goes on later. */
  readonly waiting: (reason: string) => void;
}

interface LogOptions extends Waiting {
  readonly dataDirectory: string | undefined;
  readonly world: World;
  readonly log: Log;
  readonly signal?: AbortSignal | undefined;
}

/** The log in etcd. Its code is loaded when it is needed, since few agents use it. */
export async function openLog(
  { dataDirectory, world, log, signal, waiting }: LogOptions,
  settings: EtcdSettings,
  opened: Opened,
): Promise<OpenedEtcd> {
  const { openEtcd } = await import('./state/engine/etcd/open.ts');
  const directory = dataDirectory && join(dataDirectory, 'server');
  if (directory !== undefined) {
    // Two servers would replace each other's copy of the state, and the note of the log that they have known.
    const { holdDirectory } = await import('./node/directory-lock.ts');
    await mkdir(directory, { recursive: true, mode: 0o700 });
    opened.add(holdDirectory(directory));
  }
  return openEtcd({
    ...settings,
    world,
    directory,
    isHeldBack: true,
    report: (error) => log.warn(told(error), 'the log in etcd'),
    signal,
    waiting: (error) => {
      log.error(told(error), 'this server waits for the log');
      waiting(error.message);
    },
  });
}

/** A fault of etcd or of the way to it in words alone; a bug with its stack. */
const told = (error: unknown) =>
  error instanceof Error &&
  (error.constructor === Error || error instanceof StateError || 'kind' in error)
    ? { reason: error.message }
    : { error };

/** Resolves when some server leads. A server without the root key of its cluster does not try to. */
export async function settledLog(
  opened: OpenedEtcd | undefined,
  { rootKey, dataDirectory, world }: LogKey,
  state: State,
): Promise<void> {
  if (opened === undefined || !(await opensKeyring(rootKey, dataDirectory, state, world))) return;
  await opened.engine.settled();
}

interface LogKey extends Pick<LogOptions, 'dataDirectory' | 'world'> {
  readonly rootKey: Uint8Array | undefined;
}

/** Makes the introduction token of the agent's own node, or has the leader make it. */
export function introducing({ context, servers }: Server): () => Promise<string> {
  const own = ownIntroduction(context);
  return () => {
    const leader = servers.leader();
    const isElsewhere = leader !== undefined && leader.id !== servers.id;
    return isElsewhere ? servers.introduceNode({ deadlineMs: limits.servers.askMs }) : own();
  };
}

/** Settings of the way of peers to a server. */
interface PeerSettings {
  readonly advertise?: readonly string[] | undefined;
  readonly peerAuthority?: string | undefined;
  readonly certificate?: ServerCertificate | undefined;
}

/** Tells the server the addresses and authorities by which peers reach it. */
export function advertise(
  server: Server,
  options: PeerSettings,
  listening: string | undefined,
): void {
  const addresses = options.advertise ?? advertisedAddresses(listening, readAddress().ip);
  const trusted = options.peerAuthority ?? authorityOf(options.certificate);
  server.advertise({ addresses, caPems: trusted === undefined ? [] : [trusted] });
}

/** `host:port` for the other servers; empty without a port. */
export const addressForServers = (
  { network }: { readonly network?: Pick<NetworkSettings, 'address'> | undefined },
  listening: string | undefined,
): string => network?.address ?? advertisedAddresses(listening, readAddress().ip)[0] ?? '';
