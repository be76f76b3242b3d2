import type { Timers } from '../base/ports.ts';
import { limits } from '../model/limits.ts';
import type { StreamOpener } from '../model/node-stream/stream-connection.ts';
import type { TableVersions } from '../state/form.ts';
import type { PeeringLink } from './peering/link.ts';

/** A server of the cluster, as the others know it. */
export interface Member {
  /** Unique; the same as long as the process lives. */
  readonly id: string;
  /** `host:port` of its API; empty while it does not listen. */
  readonly address: string;
}

/** A request of the API that is handed on to another server. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array | undefined;
  /** The body of a request whose route reads it itself; `body` is absent then. */
  readonly unread?: AsyncIterable<Uint8Array> | undefined;
  /** Address of the client. */
  readonly remoteAddress?: string | undefined;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/** How long to wait for an answer. `gone` aborts when the client is gone. */
export interface Patience {
  readonly deadlineMs: number;
  readonly gone?: AbortSignal | undefined;
}

/** The other server is gone, or did not answer in time. */
export class ServerGone extends Error {
  override readonly name = 'ServerGone';
  /** Whether the request may have reached it, and may have run. */
  readonly wasSent: boolean;

  constructor(id: string, wasSent: boolean) {
    super(`the server ${id} does not answer`);
    this.wasSent = wasSent;
  }
}

/** Knowledge of the leader, with the field names of the API. */
export interface Contact {
  /** Milliseconds since the server was last known to show all that the leader had. */
  readonly LastContact: number;
  readonly KnownLeader: boolean;
}

/** The health of a server, as it tells it itself. */
export interface OwnHealth {
  readonly version: string;
  /** When its term began, by its clock; `undefined`: it does not lead. */
  readonly leadsSinceMs: number | undefined;
  /** Index of its newest durable view. */
  readonly index: number;
  /** The time of the newest batch that it shows; 0 where batches have none. */
  readonly batchMs: number;
  /** How long a read of the log's end takes; `undefined`: it fails. */
  readonly logMs: number | undefined;
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}

/** A peer that has not applied the changes of the services that it is sent. */
export interface PeerLag {
  readonly partition: string;
  readonly name: string;
  readonly lagMs: number;
}

/** The last report of another server. */
export interface ServerReport {
  readonly version: string;
  /** Index of the newest transaction that it shows. */
  readonly index: number;
  /** Milliseconds since the report. */
  readonly heardMs: number;
  /** Its clock minus that of this server. */
  readonly skewMs: number;
  /** Its name for a leader that steps down; `undefined`: it cannot succeed it at once. */
  readonly candidate?: string | undefined;
}

/**
 * The port to the other servers of the cluster. Safety does not depend on its answers: the log decides
 * which server leads, and a server that is asked checks for itself.
 */
export interface Servers {
  /** Id of this server. */
  readonly id: string;
  /** All known servers, this server included. */
  members(): readonly Member[];
  /** The leader, if one is known. */
  leader(): Member | undefined;
  /** Calls `listen` when another server may lead now, or none. Returns a function that unsubscribes. */
  onLeader(listen: () => void): () => void;
  /**
   * Whether every known server is connected, does not lead by its own report, and shows no transaction that
   * this server does not show. A server that stands alone says `false`: it does not know what others do.
   */
  noneLeads(): boolean;
  /** The last report of another server; `undefined`: it is unreachable. */
  reportOf(id: string): ServerReport | undefined;
  /** The peers that lag, as the leader last told; none on the leader itself, which knows. */
  lagsOfLeader(): readonly PeerLag[];
  /** The newest version of each table that another server reads; `undefined`: it has not told. */
  tablesOf(id: string): TableVersions | undefined;
  /** Milliseconds since this server was last known to show all that the leader had; 0 on a leader whose log answers. */
  lastContactMs(): number;
  /** Milliseconds since this server heard of a leader; 0 on the leader. */
  leaderHeardMs(): number;
  /** Has that server answer a request, without handing it on again. @throws ServerGone */
  ask(id: string, question: Asked, patience: Patience): Promise<Answered>;
  /**
   * The connection that a node holds to another server, usable as if it were held here; `undefined` if
   * no server holds one. @throws ServerGone
   */
  streamTo(nodeId: string, patience: Patience): Promise<StreamOpener | undefined>;
  /** Hands the link that another cluster has opened to the leader; absent where clusters look for it themselves. */
  readonly takePeer?: (link: PeeringLink) => void;
  /** Asks another server for its health. @throws ServerGone */
  healthOf(id: string, patience: Patience): Promise<OwnHealth>;
  /** Has the leader make an introduction token for the node of this agent. @throws ServerGone */
  introduceNode(patience: Patience): Promise<string>;
}

/** Resolves at the next news of the leader, and after `lookMs` in any case. */
export function newsOfLeader(servers: Pick<Servers, 'onLeader'>, timers: Timers): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      leave();
      late.clear();
      resolve();
    };
    const leave = servers.onLeader(end);
    const late = timers.after(limits.servers.lookMs, end);
  });
}

/** The port of a server that is alone. `streamTo` finds nodes that are connected to its readers. */
export function alone(
  leads: () => boolean,
  streamTo: Servers['streamTo'] = async () => undefined,
): Servers {
  const self = { id: 'self', address: '' };
  return {
    id: self.id,
    members: () => [self],
    leader: () => (leads() ? self : undefined),
    onLeader: () => () => {},
    noneLeads: () => false,
    reportOf: () => undefined,
    lagsOfLeader: () => [],
    tablesOf: () => undefined,
    lastContactMs: () => 0,
    leaderHeardMs: () => 0,
    ask: (id) => Promise.reject(new ServerGone(id, false)),
    streamTo,
    healthOf: (id) => Promise.reject(new ServerGone(id, false)),
    introduceNode: () => Promise.reject(new ServerGone(self.id, false)),
  };
}
