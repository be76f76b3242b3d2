import type { Socket } from 'node:net';
import { limits } from '../model/limits.ts';

export interface EventLoop {
  readonly nowMs: () => number;
  /** Runs `run` once, at the end of this turn. */
  readonly soon: (run: () => void) => void;
  /** Lets work in slices wait for some turns, until the release. */
  readonly hold: () => void;
  readonly release: () => void;
}

/**
 * Connections that arrive together are served together. The event loop accepts one connection in a turn, in
 * which it also serves all those before it: of 64 that come at once, as after a restart, the last would wait
 * for two thousand requests of the others.
 *
 * Invariants
 *  A1. A connection is served after the first turn without another one, and within `arrivalsMs`.
 *  A2. It fails in silence while it waits.
 *  A3. Work in slices lets turns pass while a connection waits, so that it does not wait for slices.
 */
export class Arrivals {
  readonly #loop: EventLoop;
  readonly #serve: (socket: Socket) => void;
  #waiting: Socket[] = [];
  #sinceMs = 0;
  #hasNew = false;

  constructor(loop: EventLoop, serve: (socket: Socket) => void) {
    this.#loop = loop;
    this.#serve = serve;
  }

  add(socket: Socket): void {
    socket.on('error', () => {});
    this.#hasNew = true;
    if (this.#waiting.push(socket) > 1) return;
    this.#sinceMs = this.#loop.nowMs();
    this.#loop.hold();
    this.#loop.soon(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    const waitedMs = this.#loop.nowMs() - this.#sinceMs;
    if (this.#hasNew && waitedMs < limits.http.arrivalsMs) {
      this.#hasNew = false;
      this.#loop.soon(this.#endTurn);
      return;
    }
    this.#loop.release();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const socket of waiting) if (!socket.destroyed) this.#serve(socket);
  };
}
