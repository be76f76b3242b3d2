/**
 * The connection of a tab to the server: requests, watches, and the way back after a loss. It knows neither the page
 * nor Svelte, so that it is tested without a browser. Source: docs/contract/ui-stream.md.
 *
 * Invariants
 *  L1. A watch goes on for as long as somebody listens, over any number of connections. A value is told again only
 *      if it has changed.
 *  L2. A request is sent once. If the connection is lost before its answer, it fails as a lost request does, and the
 *      client decides what to repeat.
 *  L3. A refused connection is not tried again by itself.
 *  L4. All instants that are told are by the clock of the server, as far as it is known.
 */
import type { Problem } from '../../../src/model/errors.ts';
import {
  type ClientMessage,
  decodePart,
  type ServerMessage,
  uiStreamVersion,
} from '../../../src/model/ui-stream/messages.ts';
import { limits } from './limits.ts';
import type { LiveState, WatchListener } from './live.ts';
import { ServerClock } from './server-clock.ts';
import { Watched } from './watched.ts';

/** The part of a browser's WebSocket that is used. */
export interface PageSocket {
  binaryType: string;
  send(data: string): void;
  close(): void;
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: (() => void) | null;
}

export interface StreamSocketOptions {
  readonly open: () => PageSocket;
  /** Asked for each connection. */
  readonly hello: () => {
    readonly token?: string | undefined;
    readonly namespace?: string | undefined;
    readonly partition?: string | undefined;
  };
  /** The clock of the page. */
  readonly nowMs: () => number;
  /** Hears how far the clock of the server is ahead of it, whenever that is known better. */
  readonly onClock: (aheadMs: number) => void;
  /** Returns the end of the timer. */
  readonly after: (delayMs: number, run: () => void) => () => void;
  /** A number in [0, 1). */
  readonly fraction: () => number;
  readonly onState: (state: LiveState) => void;
}

/** What a request hears. */
export interface RequestListener {
  head(status: number, headers: Readonly<Record<string, string>>): void;
  part(bytes: Uint8Array): void;
  over(): void;
  /** The connection was lost, or the body has ended before its end. */
  lost(): void;
}

export type Asked =
  | Omit<ClientMessage & { readonly kind: 'call' }, 'id'>
  | Omit<ClientMessage & { readonly kind: 'stream' }, 'id'>;

export class StreamSocket {
  readonly #options: StreamSocketOptions;
  readonly #requests = new Map<number, RequestListener>();
  readonly #watches = new Map<string, Watched>();
  readonly #watchesById = new Map<number, Watched>();
  readonly #waiting = new Set<() => void>();
  readonly #clock = new ServerClock();
  #helloMs = 0;
  #state: LiveState;
  #socket: PageSocket | undefined;
  #nextId = 1;
  #attempts = 0;
  #stopTimer: () => void = () => {};
  #stopSilence: () => void = () => {};
  #isPaused = false;
  #isClosed = false;

  constructor(options: StreamSocketOptions) {
    this.#options = options;
    this.#state = {
      kind: 'connecting',
      sinceMs: options.nowMs(),
      lastHeardMs: 0,
      followedMs: 0,
      index: 0,
    };
    this.#connect();
  }

  get state(): LiveState {
    return this.#state;
  }

  watch<T>(path: string, listener: WatchListener<T>): () => void {
    let watched = this.#watches.get(path);
    if (watched === undefined) {
      watched = new Watched(path, this.#nextId++);
      this.#watches.set(path, watched);
      this.#watchesById.set(watched.id, watched);
      this.#beginWatch(watched);
    }
    const shared = watched;
    const leave = shared.add(listener as WatchListener<unknown>);
    return () => {
      leave();
      if (!shared.isIdle || this.#watches.get(path) !== shared) return;
      this.#watches.delete(path);
      this.#watchesById.delete(shared.id);
      if (!this.#isPaused) this.#send({ kind: 'end', id: shared.id });
    };
  }

  /** Sends a request. The connection has to be open. Returns its id. */
  ask(asked: Asked, listener: RequestListener): number {
    const id = this.#nextId++;
    this.#requests.set(id, listener);
    this.#send({ ...asked, id });
    return id;
  }

  grant(id: number, bytes: number): void {
    if (this.#requests.has(id)) this.#send({ kind: 'grant', id, bytes });
  }

  end(id: number): void {
    if (this.#requests.delete(id)) this.#send({ kind: 'end', id });
  }

  /** Resolves with whether the connection is open, as soon as it is, or when the time or the signal ends. */
  opened(waitMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#state.kind === 'open') return Promise.resolve(true);
    if (this.#state.kind === 'refused') return Promise.resolve(false);
    return new Promise((resolve) => {
      const over = (): void => {
        stop();
        this.#waiting.delete(check);
        signal?.removeEventListener('abort', over);
        resolve(this.#state.kind === 'open');
      };
      const check = (): void => {
        if (this.#state.kind === 'open' || this.#state.kind === 'refused') over();
      };
      const stop = this.#options.after(waitMs, over);
      this.#waiting.add(check);
      signal?.addEventListener('abort', over);
    });
  }

  /** Begins again with a new hello: the token or the place is another. Nothing of the old ones is kept. */
  renew(): void {
    for (const watched of this.#watches.values()) watched.forget();
    this.#attempts = 0;
    this.#connect();
  }

  /** Tries at once to connect again, if the connection is away. */
  retry(): void {
    if (this.#state.kind === 'away') this.#connect();
  }

  /** Stops the watches, while nobody sees the page. Their values are kept. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    for (const { id } of this.#watches.values()) this.#send({ kind: 'end', id });
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    for (const watched of this.#watches.values()) this.#beginWatch(watched);
    this.retry();
  }

  close(): void {
    this.#isClosed = true;
    this.#dropSocket();
  }

  #connect(): void {
    this.#dropSocket();
    if (this.#isClosed) return;
    const { open, hello, after } = this.#options;
    const { token = '', namespace = '', partition = '' } = hello();
    if (this.#state.kind !== 'away') this.#moveState({ kind: 'connecting', problem: undefined });
    let socket: PageSocket;
    try {
      socket = open();
    } catch {
      return void this.#goAway();
    }
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    const first = { kind: 'hello', version: uiStreamVersion, token, namespace, partition };
    socket.onopen = () => {
      this.#helloMs = this.#options.nowMs();
      socket.send(JSON.stringify(first));
    };
    socket.onmessage = ({ data }) => {
      if (this.#socket === socket) this.#hear(data);
    };
    socket.onclose = () => {
      if (this.#socket === socket) this.#goAway();
    };
    this.#stopTimer = after(limits.welcomeTimeoutMs, () => this.#goAway());
  }

  #dropSocket(): void {
    this.#stopTimer();
    this.#stopSilence();
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    for (const [id, listener] of [...this.#requests]) {
      this.#requests.delete(id);
      listener.lost();
    }
  }

  #goAway(): void {
    this.#dropSocket();
    if (this.#isClosed || this.#state.kind === 'refused') return;
    this.#moveState({ kind: 'away' });
    const { reconnectMinMs, reconnectMaxMs } = limits;
    const longestMs = Math.min(reconnectMinMs * 2 ** this.#attempts++, reconnectMaxMs);
    const pauseMs = longestMs * (0.5 + this.#options.fraction() / 2);
    this.#stopTimer = this.#options.after(pauseMs, () => this.#connect());
  }

  #hear(data: unknown): void {
    this.#stopSilence();
    this.#stopSilence = this.#options.after(limits.silentTimeoutMs, () => this.#goAway());
    if (data instanceof ArrayBuffer) return void this.#takePart(new Uint8Array(data));
    this.#takeMessage(JSON.parse(String(data)) as ServerMessage);
  }

  #takePart(part: Uint8Array): void {
    const { id, bytes } = decodePart(part);
    const listener = this.#requests.get(id);
    if (bytes.length > 0) return void listener?.part(bytes);
    this.#requests.delete(id);
    listener?.over();
  }

  #takeMessage(message: ServerMessage): void {
    switch (message.kind) {
      case 'welcome':
        return void this.#welcome(message);
      case 'beat':
        return void this.#takeBeat(message);
      case 'bye':
        return void this.#takeRefusal(message.problem);
      case 'answer':
      case 'head':
      case 'broken':
        return void this.#takeAnswer(message);
      default:
        this.#takeWatched(message);
    }
  }

  #takeAnswer(message: ServerMessage & { readonly kind: 'answer' | 'head' | 'broken' }): void {
    const { id, kind } = message;
    const listener = this.#requests.get(id);
    if (kind !== 'head') this.#requests.delete(id);
    if (listener === undefined) return;
    if (kind === 'broken') return void listener.lost();
    listener.head(message.status, message.headers);
    if (kind === 'head') return;
    if (message.body !== '') listener.part(new TextEncoder().encode(message.body));
    listener.over();
  }

  #takeWatched(
    message: ServerMessage & { readonly kind: 'value' | 'change' | 'same' | 'refused' },
  ): void {
    const watched = this.#watchesById.get(message.id);
    if (watched === undefined || this.#isPaused) return;
    const isUnderstood = watched.take(message, this.#serverMs());
    if (message.kind !== 'refused') {
      this.#moveState({ index: Math.max(this.#state.index, message.index) });
    }
    if (isUnderstood) return void this.#send({ kind: 'acknowledge', id: message.id });
    this.#send({ kind: 'end', id: message.id });
    this.#beginWatch(watched);
  }

  #takeBeat(message: ServerMessage & { readonly kind: 'beat' }): void {
    this.#clock.check(message.nowMs, this.#options.nowMs());
    this.#options.onClock(this.#clock.aheadMs);
    this.#moveState({ index: message.index, ...this.#leaderOf(message) });
  }

  /** A server of an earlier version does not tell. */
  #leaderOf({ knownLeader }: { readonly knownLeader: boolean }): Partial<LiveState> {
    const isGone = knownLeader === false;
    return { leaderlessMs: isGone ? (this.#state.leaderlessMs ?? this.#serverMs()) : undefined };
  }

  #welcome(message: ServerMessage & { readonly kind: 'welcome' }): void {
    const { index, heardMs, nowMs } = message;
    const welcomeMs = this.#options.nowMs();
    this.#clock.measure({ helloMs: this.#helloMs, heardMs, nowMs, welcomeMs });
    this.#options.onClock(this.#clock.aheadMs);
    this.#stopTimer();
    this.#attempts = 0;
    this.#moveState({ kind: 'open', index, problem: undefined, ...this.#leaderOf(message) });
    for (const watched of this.#watches.values()) this.#beginWatch(watched);
  }

  #takeRefusal(problem: Problem): void {
    // Another server may have room, and this one later.
    const isPassing = problem.status === 429 || problem.status >= 500;
    if (isPassing) return void this.#goAway();
    this.#moveState({ kind: 'refused', problem });
    this.#dropSocket();
  }

  /** An id names one watch on the server: a watch that begins again has a new one. */
  #beginWatch(watched: Watched): void {
    if (this.#state.kind !== 'open' || this.#isPaused) return;
    this.#watchesById.delete(watched.id);
    watched.id = this.#nextId++;
    this.#watchesById.set(watched.id, watched);
    this.#send({ kind: 'watch', id: watched.id, path: watched.path, has: watched.version });
  }

  #send(message: ClientMessage): void {
    if (this.#state.kind === 'open') this.#socket?.send(JSON.stringify(message));
  }

  #serverMs(): number {
    return this.#options.nowMs() + this.#clock.aheadMs;
  }

  #moveState(change: Partial<LiveState>): void {
    const nowMs = this.#serverMs();
    const isNew = change.kind !== undefined && change.kind !== this.#state.kind;
    const isHeard = change.kind === undefined || change.kind === 'open';
    this.#state = {
      ...this.#state,
      ...change,
      ...(isNew && { sinceMs: nowMs }),
      ...(isHeard && { lastHeardMs: nowMs }),
      ...(isHeard && !this.#isPaused && { followedMs: nowMs }),
    };
    this.#options.onState(this.#state);
    for (const check of [...this.#waiting]) check();
  }
}
