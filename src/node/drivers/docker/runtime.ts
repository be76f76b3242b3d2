import type Dockerode from 'dockerode';
import { type Clock, delay, type Timers } from '../../../base/ports.ts';
import { limits } from '../../../model/limits.ts';
import { DriverFailure } from '../driver.ts';
import { findSocket, type SocketSearch } from './sockets.ts';

/** The runtime did not answer, but may later. */
export class RuntimeUnreachable extends DriverFailure {
  constructor(reason: string) {
    super(`the container runtime does not answer: ${reason}`, true);
  }
}

/** A runtime's description of itself. */
export interface RuntimeIdentity {
  /** `podman` offers the same API as `docker`. */
  readonly kind: 'docker' | 'podman';
  readonly version: string;
  readonly apiVersion: string;
}

/**
 * The connection to a container runtime, and whether it answers.
 *
 * Invariants
 *  C1. While the runtime is unreachable, one loop polls it for all who wait; while it answers,
 *      callers poll it themselves (`ping`).
 *  C2. Every call rejects as soon as the runtime is known to be unreachable.
 */
export class Runtime {
  readonly #search: SocketSearch;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #closed = new AbortController();
  #client: Dockerode | undefined;
  #socket = '';
  #identity: RuntimeIdentity | undefined;
  #away: { readonly reason: string; readonly sinceMs: number } | undefined;
  #left = new AbortController();
  #returned = Promise.withResolvers<void>();
  #onReturn: () => void = () => {};

  constructor(search: SocketSearch, ports: { readonly clock: Clock; readonly timers: Timers }) {
    this.#search = search;
    this.#clock = ports.clock;
    this.#timers = ports.timers;
  }

  get identity(): RuntimeIdentity | undefined {
    return this.#identity;
  }

  /** Aborted when the agent ends. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** When it became unreachable, by the monotonic clock; `undefined` while it answers. */
  get awaySinceMs(): number | undefined {
    return this.#away?.sinceMs;
  }

  /** Calls `listen` at its first answer, and at the first answer after each outage. */
  onReturn(listen: () => void): void {
    this.#onReturn = listen;
  }

  close(): void {
    this.#closed.abort();
    this.#left.abort();
  }

  /**
   * Asks the runtime for its identity. `absent`: there is no runtime, which is no fault. Rejects
   * with {@link RuntimeUnreachable}.
   */
  async ping(): Promise<RuntimeIdentity | { readonly absent: string }> {
    if (this.#client === undefined) {
      const found = await findSocket(this.#search);
      if ('absent' in found) return found;
      await this.#connect(found.path);
    }
    const isFirst = this.#identity === undefined;
    try {
      this.#identity = await this.#askIdentity();
    } catch (error) {
      throw this.#noteAway(reasonOf(error));
    }
    this.#noteReturn(isFirst);
    return this.#identity;
  }

  /** Rejects with the runtime's error, or with {@link RuntimeUnreachable}. */
  async call<T>(act: (client: Dockerode) => Promise<T>): Promise<T> {
    if (this.#away !== undefined) throw new RuntimeUnreachable(this.#away.reason);
    if (this.#client === undefined) {
      const found = await this.ping();
      if ('absent' in found) throw this.#noteAway(found.absent);
    }
    const left = this.#left.signal;
    try {
      return await rejectedBy(left, act(this.#client!));
    } catch (error) {
      if (error instanceof LeftEarly) throw new RuntimeUnreachable(this.#awayReason);
      if (!isLostConnection(error)) throw error;
      throw this.#noteAway(reasonOf(error));
    }
  }

  get #awayReason(): string {
    return this.#away?.reason ?? 'the agent ends';
  }

  /** Resolves when it answers, or `signal` aborts. */
  async whenReturned(signal: AbortSignal): Promise<void> {
    if (this.#away !== undefined) await Promise.race([this.#returned.promise, aborted(signal)]);
  }

  async #connect(socketPath: string): Promise<void> {
    // Loaded only if there is a runtime, as it is large.
    const { default: Client } = await import('dockerode');
    this.#socket = socketPath;
    this.#client = new Client({ socketPath });
  }

  /** Asked only after an outage, as it costs the runtime more than a ping. */
  async #askIdentity(): Promise<RuntimeIdentity> {
    const { pingTimeoutMs, versionTimeoutMs } = limits.docker;
    await this.#callInTime(pingTimeoutMs, this.#client!.ping());
    if (this.#identity !== undefined && this.#away === undefined) return this.#identity;
    const version = await this.#callInTime(versionTimeoutMs, this.#client!.version());
    const components = (version.Components ?? []).map(({ Name }) => Name.toLowerCase());
    const isPodman = components.some((name) => name.includes('podman'));
    const kind = isPodman ? 'podman' : 'docker';
    return { kind, version: version.Version, apiVersion: version.ApiVersion };
  }

  async #callInTime<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
    const tooLate = new AbortController();
    const timer = this.#timers.after(timeoutMs, () => tooLate.abort());
    try {
      return await rejectedBy(tooLate.signal, work);
    } catch (error) {
      if (!(error instanceof LeftEarly)) throw error;
      throw new Error(`no answer within ${timeoutMs} ms`);
    } finally {
      timer.clear();
    }
  }

  #noteAway(reason: string): RuntimeUnreachable {
    const told = this.#socket === '' ? reason : `${this.#socket}: ${reason}`;
    if (this.#away === undefined && !this.#closed.signal.aborted) {
      this.#away = { reason: told, sinceMs: this.#clock.monotonicMs() };
      this.#returned = Promise.withResolvers();
      this.#left.abort();
      void this.#askUntilItReturns();
    }
    return new RuntimeUnreachable(told);
  }

  #noteReturn(isFirst: boolean): void {
    if (this.#closed.signal.aborted) return;
    if (this.#away !== undefined) {
      this.#away = undefined;
      this.#left = new AbortController();
      this.#returned.resolve();
    } else if (!isFirst) return;
    this.#onReturn();
  }

  /** C1. */
  async #askUntilItReturns(): Promise<void> {
    const { closed } = this;
    while (!closed.aborted && this.#away !== undefined) {
      await delay(this.#timers, limits.docker.reconnectMs, closed);
      if (!closed.aborted && this.#away !== undefined) await this.ping().catch(() => {});
    }
  }
}

class LeftEarly extends Error {}

async function rejectedBy<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  // Nobody waits for the loser of the race.
  work.catch(() => {});
  if (signal.aborted) throw new LeftEarly();
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => reject(new LeftEarly());
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

interface RuntimeError {
  readonly statusCode?: number;
  readonly code?: string;
  readonly message?: string;
  readonly json?: { readonly message?: string };
}

/** The HTTP status of the runtime's refusal, or 0. */
export const statusOf = (error: unknown): number => (error as RuntimeError)?.statusCode ?? 0;

/** The runtime's message, as one sentence. */
export function reasonOf(error: unknown): string {
  const { json, message, code } = (error ?? {}) as RuntimeError;
  const told = json?.message ?? message ?? code ?? String(error);
  return told.replace(/\s+/g, ' ').trim();
}

/** Whether no answer came, or only a part of one. */
function isLostConnection(error: unknown): boolean {
  if (statusOf(error) !== 0 || error instanceof DriverFailure) return false;
  const { code = '', message = '' } = error as RuntimeError;
  return (
    ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'EACCES', 'EPERM', 'ETIMEDOUT'].includes(
      code,
    ) || /socket hang up|aborted|premature close/i.test(message)
  );
}
