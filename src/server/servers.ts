import type { StreamConnection } from '../model/node-stream/stream-connection.ts';

/** A server of the cluster, as the others know it. */
export interface Member {
  /** Its own for as long as its process lives. */
  readonly id: string;
  /** `host:port` of its API; empty while it does not listen. */
  readonly address: string;
}

/** What one server asks another: a request of the API, as far as it can be handed on. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array | undefined;
  /** Of the client that it is asked for. */
  readonly remoteAddress?: string | undefined;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/** How long the one who asks waits, and whether anybody still does. */
export interface Patience {
  readonly deadlineMs: number;
  readonly gone?: AbortSignal | undefined;
}

/** There is no answer: the other server is not there any more, or did not answer in time. */
export class ServerGone extends Error {
  override readonly name = 'ServerGone';
  /** Whether the question may have reached it. */
  readonly wasSent: boolean;

  constructor(id: string, wasSent: boolean) {
    super(`the server ${id} does not answer`);
    this.wasSent = wasSent;
  }
}

/** What a server knows of the leader, in the words of the API. */
export interface Contact {
  /** Milliseconds since the leader was heard. */
  readonly LastContact: number;
  readonly KnownLeader: boolean;
}

/**
 * The way to the other servers of the cluster. Nothing is safe because of what it says: who leads is
 * decided by the log, and who is asked checks for itself.
 */
export interface Servers {
  /** Of this server. */
  readonly id: string;
  /** Every server that is known, this one among them. */
  members(): readonly Member[];
  /** Who leads, as far as is known here. */
  leader(): Member | undefined;
  /** Milliseconds since a leader was heard of; 0 where it is this server. */
  lastContactMs(): number;
  /** Has that server answer a request by itself, without handing it on. @throws ServerGone */
  ask(id: string, question: Asked, patience: Patience): Promise<Answered>;
  /**
   * The connection that a node holds open to another server, as if it were held here; `undefined`
   * where no server has one. @throws ServerGone
   */
  streamTo(nodeId: string, patience: Patience): Promise<StreamConnection | undefined>;
}

/** Of a server without others. */
export function alone(leads: () => boolean): Servers {
  const self = { id: 'self', address: '' };
  return {
    id: self.id,
    members: () => [self],
    leader: () => (leads() ? self : undefined),
    lastContactMs: () => 0,
    ask: (id) => Promise.reject(new ServerGone(id, false)),
    streamTo: async () => undefined,
  };
}
