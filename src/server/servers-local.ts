import type { Clock, Timers } from '../base/ports.ts';
import type { TableVersions } from '../state/form.ts';
import { Listeners } from '../state/listeners.ts';
import type { State } from '../state/types.ts';
import { Freshness } from './freshness.ts';
import type { NodeStreams } from './nodes/streams.ts';
import {
  type Answered,
  type Asked,
  type Member,
  type OwnHealth,
  type Patience,
  type PeerLag,
  ServerGone,
  type Servers,
} from './servers.ts';

/** A server that the other servers of its process know. */
export interface LocalServer {
  readonly id: string;
  /** `host:port` of its API; empty while it does not listen. */
  readonly address: () => string;
  readonly state: Pick<State, 'leading'> &
    Partial<Pick<State, 'read' | 'candidate' | 'onLeadership' | 'onCommit'>>;
  readonly streams: NodeStreams;
  /** Answers the request; `gone` aborts when nobody waits. Never settles if the server ends first. */
  readonly answer: (question: Asked, gone: AbortSignal) => Promise<Answered>;
  /** Makes an introduction token for a node of another agent; absent where none asks. */
  readonly introduceNode?: () => Promise<string>;
  /** Absent where nobody asks. */
  readonly health?: () => Promise<OwnHealth>;
  /** The newest version of each table that it reads; absent where it does not matter. */
  readonly tables?: TableVersions;
  /** Of its program. */
  readonly version?: string;
  /** While it leads: the peers that lag; absent where nobody asks. */
  readonly lags?: () => readonly PeerLag[];
  /** Milliseconds since its state was last known to be the newest, as it joins; the default is 0. */
  readonly ageMs?: number | undefined;
  /** While it leads: milliseconds for which its log has been silent; absent where the log is never silent. */
  readonly silentMs?: () => number;
}

export interface LocalServersOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
}

/** The servers of a single process. They reach each other by function calls. */
export class LocalServers {
  readonly #options: LocalServersOptions;
  readonly #present = new Map<string, LocalServer>();
  /** Fails the requests that wait for an answer, by the server that was asked. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #listeners = new Listeners<[]>();
  /** The age of the state of each server, by its id. */
  readonly #freshness = new Map<string, Freshness>();
  #heardMs: number;

  constructor(options: LocalServersOptions) {
    this.#options = options;
    this.#heardMs = this.#nowMs;
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  /** Makes the server known to the others. Returns the function that ends this. */
  join(server: LocalServer): () => void {
    const { id, state, ageMs = 0 } = server;
    this.#present.set(id, server);
    this.#freshness.set(id, new Freshness(this.#nowMs - ageMs));
    const unfollow = [
      state.onLeadership?.(() => this.#listeners.tell()),
      state.onCommit?.((_, index) => this.#noteCommit(server, index)),
    ];
    return () => {
      for (const end of unfollow) end?.();
      if (this.#present.get(server.id) !== server) return;
      this.#noteLeader();
      this.#present.delete(server.id);
      const waiting = [...(this.#waiting.get(server.id) ?? [])];
      this.#waiting.delete(server.id);
      for (const gone of waiting) gone();
    };
  }

  /** The port of the server with that id. */
  of(id: string): Servers {
    if (!this.#freshness.has(id)) this.#freshness.set(id, new Freshness(this.#nowMs));
    return {
      id,
      members: () => [...this.#present.values()].map(memberOf).sort(byId),
      leader: () => {
        const leader = this.#noteLeader();
        return leader && memberOf(leader);
      },
      onLeader: (listen) => this.#listeners.add(listen),
      noneLeads: () => this.#noneLeads(id),
      reportOf: (other) => {
        const { state, version = '' } = this.#present.get(other) ?? {};
        const index = state?.read?.().index;
        if (index === undefined) return undefined;
        return { version, index, heardMs: 0, skewMs: 0, candidate: state?.candidate };
      },
      lagsOfLeader: () => {
        const leader = this.#noteLeader();
        return leader === undefined || leader.id === id ? [] : (leader.lags?.() ?? []);
      },
      tablesOf: (other) => this.#present.get(other)?.tables,
      lastContactMs: () => this.#lastContactMs(id),
      leaderHeardMs: () =>
        this.#noteLeader() === undefined ? Math.round(this.#nowMs - this.#heardMs) : 0,
      ask: (other, question, patience) => this.#askServer(other, question, patience),
      streamTo: async (nodeId) => {
        for (const { streams } of this.#present.values()) {
          const held = streams.held(nodeId);
          if (held !== undefined) return held;
        }
        return undefined;
      },
      healthOf: (other) => {
        const told = this.#present.get(other)?.health?.();
        return told ?? Promise.reject(new ServerGone(other, false));
      },
      introduceNode: () => {
        const made = this.#noteLeader()?.introduceNode?.();
        return made ?? Promise.reject(new ServerGone(id, false));
      },
    };
  }

  /** If two servers believe to lead, the server with the later term leads. */
  #noteLeader(): LocalServer | undefined {
    let leader: LocalServer | undefined;
    for (const server of this.#present.values()) {
      const epoch = server.state.leading?.epoch ?? 0;
      if (epoch > (leader?.state.leading?.epoch ?? 0)) leader = server;
    }
    if (leader !== undefined) this.#heardMs = this.#nowMs;
    return leader;
  }

  #indexOf(id: string): number {
    return this.#present.get(id)?.state.read?.().index ?? 0;
  }

  /**
   * Until this commit of the leader, its newest transaction was the one before. If the log had been silent, as for a leader
   * that was asleep, that is known only of the time before: the term may be over, and other servers may have written since.
   */
  #noteCommit(server: LocalServer, index: number): void {
    if (server !== this.#noteLeader()) return;
    const knownMs = this.#nowMs - (server.silentMs?.() ?? 0);
    for (const [id, freshness] of this.#freshness) {
      freshness.told(index - 1, knownMs);
      freshness.currentMs(this.#indexOf(id));
    }
  }

  #lastContactMs(id: string): number {
    const freshness = this.#freshness.get(id)!;
    const leader = this.#noteLeader();
    const knownMs = this.#nowMs - (leader?.silentMs?.() ?? 0);
    if (leader?.id === id) freshness.lead(knownMs);
    else if (leader !== undefined) freshness.told(this.#indexOf(leader.id), knownMs);
    return Math.round(this.#nowMs - freshness.currentMs(this.#indexOf(id)));
  }

  #noneLeads(id: string): boolean {
    const all = [...this.#present.values()];
    const indexOf = (one: LocalServer | undefined) => one?.state.read?.().index ?? 0;
    const own = indexOf(this.#present.get(id));
    return all.every((one) => one.state.leading === undefined && indexOf(one) <= own);
  }

  #askServer(id: string, question: Asked, { deadlineMs, gone }: Patience): Promise<Answered> {
    const server = this.#present.get(id);
    if (server === undefined) return Promise.reject(new ServerGone(id, false));
    const { promise, resolve, reject } = Promise.withResolvers<Answered>();
    const over = new AbortController();
    const fail = () => {
      over.abort();
      reject(new ServerGone(id, true));
    };
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting.add(fail));
    const late = this.#options.timers.after(deadlineMs, fail);
    gone?.addEventListener('abort', fail, { once: true });
    // The body of an answer may go on after its head.
    const signal = gone === undefined ? over.signal : AbortSignal.any([over.signal, gone]);
    server.answer(question, signal).then(resolve, reject);
    return promise.finally(() => {
      late.clear();
      waiting.delete(fail);
      gone?.removeEventListener('abort', fail);
    });
  }
}

const memberOf = ({ id, address }: LocalServer): Member => ({ id, address: address() });

const byId = (left: Member, right: Member): number => (left.id < right.id ? -1 : 1);
