import type { Random, Timer, Timers } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';

export interface HeartbeatsOptions {
  readonly timers: Timers;
  readonly random: Random;
  /** With more nodes, each sends heartbeats less often. */
  readonly nodeCount: () => number;
  readonly onMissed: (nodeId: string) => void;
}

/**
 * Expects a heartbeat of each node within the time that the node was given. Heartbeats are no
 * state: a new leader gives every node a long first time instead.
 * Source: docs/behaviour/nodes.md#heartbeats.
 */
export class Heartbeats {
  readonly #options: HeartbeatsOptions;
  readonly #due = new Map<string, Timer>();

  constructor(options: HeartbeatsOptions) {
    this.#options = options;
  }

  /** Notes a heartbeat. Returns the milliseconds until the next one is due. */
  heard(nodeId: string): number {
    const { heartbeatTtlMinMs, heartbeatsPerSecondMax, heartbeatGraceMs } = limits.node;
    const spreadMs = (this.#options.nodeCount() / heartbeatsPerSecondMax) * 1000;
    const baseMs = Math.max(heartbeatTtlMinMs, spreadMs);
    const ttlMs = Math.round(baseMs * (1 + this.#options.random.fraction()));
    this.#expectNode(nodeId, ttlMs + heartbeatGraceMs);
    return ttlMs;
  }

  /** Gives a node time to find the new leader. */
  expectAfterFailover(nodeId: string): void {
    this.#expectNode(nodeId, limits.node.heartbeatFailoverTtlMs);
  }

  /** Expects a node again if its miss could not be stored, unless it was heard meanwhile. */
  expectAgain(nodeId: string): void {
    if (!this.#due.has(nodeId)) this.#expectNode(nodeId, limits.node.missedRetryMs);
  }

  /** Reports a disconnected node as missed if it does not come back within this time. */
  awaitReturn(nodeId: string, withinMs: number): void {
    if (!this.#due.has(nodeId)) this.#expectNode(nodeId, withinMs);
  }

  forget(nodeId: string): void {
    this.#due.get(nodeId)?.clear();
    this.#due.delete(nodeId);
  }

  stop(): void {
    for (const nodeId of [...this.#due.keys()]) this.forget(nodeId);
  }

  #expectNode(nodeId: string, withinMs: number): void {
    this.forget(nodeId);
    const timer = this.#options.timers.after(withinMs, () => {
      this.#due.delete(nodeId);
      this.#options.onMissed(nodeId);
    });
    this.#due.set(nodeId, timer);
  }
}
