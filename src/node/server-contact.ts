import { join } from 'node:path';
import { durationMs } from '../base/duration.ts';
import type { Clock, Timers } from '../base/ports.ts';
import { limits } from '../model/limits.ts';
import { heardCode } from '../model/node/heard.ts';
import { LatestFile, readJson } from './files.ts';
import type { HeartbeatAnswer } from './server-api.ts';

export interface ServerContactOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly dataDirectory: string;
  readonly onNotice: (sentence: string) => void;
}

/** The state from which the next agent goes on. */
interface SavedContact {
  /** Unix ms. */
  readonly lastMs: number;
  readonly missedAfterMs: number;
}

/**
 * When a server last heard of this node. Source: docs/behaviour/client.md#without-servers.
 *
 * Invariants
 *  C1. A heartbeat or registration counts from its sending, once it is answered: a server has heard of
 *      the node then or later, so it places no replacement before the node has ended what it replaces.
 *      A server without a leader answers so only if it knows that no leader misses the node.
 *  C2. Nothing is too long ago that the servers themselves do not miss yet: a node with one heartbeat
 *      in ten seconds is not without servers in between.
 *  C3. Time is counted by the monotonic clock while the agent runs, and by the wall clock from one
 *      agent to the next.
 */
export class ServerContact {
  readonly #options: ServerContactOptions;
  readonly #file: LatestFile;
  #lastMonotonicMs: number;
  /** After that long servers miss the next heartbeat. */
  #missedAfterMs = 0;
  #isKept = false;

  constructor(options: ServerContactOptions) {
    this.#options = options;
    const { clock, timers, dataDirectory, onNotice } = options;
    this.#lastMonotonicMs = clock.monotonicMs();
    this.#file = new LatestFile(pathOf(dataDirectory), () => JSON.stringify(this.#saved), timers, {
      onError: ({ message }) =>
        onNotice(`the last contact with the servers cannot be kept: ${message}`),
    });
  }

  /** Goes on from what the agent before kept; where that is missing, the time counts from now. */
  async restore(): Promise<void> {
    const { clock, dataDirectory } = this.#options;
    const kept = await readJson(pathOf(dataDirectory)).catch(() => undefined);
    if (!isSavedContact(kept)) return;
    this.#lastMonotonicMs = clock.monotonicMs() - Math.max(0, clock.nowMs() - kept.lastMs);
    this.#missedAfterMs = kept.missedAfterMs;
  }

  /** The time within which servers expect the next heartbeat, which grows with the fleet; 0: not known. */
  get ttlMs(): number {
    return Math.max(0, this.#missedAfterMs - limits.node.heartbeatGraceMs);
  }

  /** How long something goes on that may be without servers for `graceMs`; 0 or less: it must end. */
  leftMs(graceMs: number): number {
    return Math.max(graceMs, this.#missedAfterMs) - this.#silentMs;
  }

  /** Asks a server something that tells it that the node is alive. C1. */
  async during<A extends HeartbeatAnswer>(ask: () => Promise<A>): Promise<A> {
    const sentMs = this.#options.clock.monotonicMs();
    try {
      const answer = await ask();
      this.#missedAfterMs = durationMs(answer.HeartbeatTTL) + limits.node.heartbeatGraceMs;
      this.#noteContact(sentMs);
      return answer;
    } catch (error) {
      if ((error as { readonly code?: unknown } | undefined)?.code === heardCode) {
        this.#noteContact(sentMs);
      }
      throw error;
    }
  }

  #noteContact(sentMs: number): void {
    this.#lastMonotonicMs = Math.max(this.#lastMonotonicMs, sentMs);
    if (this.#isKept) void this.#file.save();
  }

  /** From now on the next agent can go on from the last contact: an allocation depends on it. */
  keep(): void {
    if (this.#isKept) return;
    this.#isKept = true;
    void this.#file.save();
  }

  /** The agent ends. Resolves when nothing is being written. */
  async close(): Promise<void> {
    this.#file.close();
    if (this.#isKept) await this.#file.save();
  }

  get #silentMs(): number {
    return this.#options.clock.monotonicMs() - this.#lastMonotonicMs;
  }

  get #saved(): SavedContact {
    const lastMs = this.#options.clock.nowMs() - this.#silentMs;
    return { lastMs, missedAfterMs: this.#missedAfterMs };
  }
}

const pathOf = (dataDirectory: string): string => join(dataDirectory, 'server-contact.json');

function isSavedContact(value: unknown): value is SavedContact {
  const { lastMs, missedAfterMs } = (value ?? {}) as Partial<SavedContact>;
  return typeof lastMs === 'number' && typeof missedAfterMs === 'number';
}
