import type { Random, Timer, Timers } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';

export interface HeartbeatsOptions {
  readonly timers: Timers;
  readonly random: Random;
  /** How many nodes there are; the more, the less often each is heard. */
  readonly nodeCount: () => number;
  readonly onMissed: (nodeId: string) => void;
}

/**
 * Watches over the nodes: each has to be heard again within the time it was given. None of it is
 * state: a new leader gives every node a long first time instead.
 * Source: docs/behaviour/nodes.md#heartbeats.
 */
export class Heartbeats {
  readonly #options: HeartbeatsOptions;
  readonly #due = new Map<string, Timer>();

  constructor(options: HeartbeatsOptions) {
    this.#options = options;
  }

  /** Notes that the node was heard. Returns within how many milliseconds it must be again. */
  heard(nodeId: string): number {
    const { heartbeatTtlMinMs, heartbeatsPerSecondMax, heartbeatGraceMs } = limits.node;
    const spreadMs = (this.#options.nodeCount() / heartbeatsPerSecondMax) * 1000;
    const baseMs = Math.max(heartbeatTtlMinMs, spreadMs);
    const ttlMs = Math.round(baseMs * (1 + this.#options.random.fraction()));
    this.#expect(nodeId, ttlMs + heartbeatGraceMs);
    return ttlMs;
  }

  /** Gives a node of the state that this leader took over the time to find it. */
  expectAfterFailover(nodeId: string): void {
    this.#expect(nodeId, limits.node.heartbeatFailoverTtlMs);
  }

  /** Expects a node once more whose miss could not be noted, unless it was heard meanwhile. */
  expectAgain(nodeId: string): void {
    if (!this.#due.has(nodeId)) this.#expect(nodeId, limits.node.missedRetryMs);
  }

  /** Has a node looked at again that is away and may come back within this time. */
  awaitReturn(nodeId: string, withinMs: number): void {
    if (!this.#due.has(nodeId)) this.#expect(nodeId, withinMs);
  }

  forget(nodeId: string): void {
    this.#due.get(nodeId)?.clear();
    this.#due.delete(nodeId);
  }

  stop(): void {
    for (const nodeId of [...this.#due.keys()]) this.forget(nodeId);
  }

  #expect(nodeId: string, withinMs: number): void {
    this.forget(nodeId);
    const timer = this.#options.timers.after(withinMs, () => {
      this.#due.delete(nodeId);
      this.#options.onMissed(nodeId);
    });
    this.#due.set(nodeId, timer);
  }
}
