/**
 * How far the clock of the server is ahead of that of the page. Source: docs/contract/ui-stream.md#the-clock-of-the-server.
 *
 * Invariants
 *  C1. Each connection measures it anew. The error is at most half of the time that the two messages took on their way.
 *  C2. No message comes before it was sent, so a message that shows more is right: a clock has jumped.
 *  C3. A message that shows less may have come late. It is right if the next one shows the same.
 */
export interface ClockMeasure {
  /** By the clock of the page: when it sent the hello, and when the welcome came. */
  readonly helloMs: number;
  readonly welcomeMs: number;
  /** By the clock of the server: when the hello came, and when it sent the welcome. */
  readonly heardMs: number;
  readonly nowMs: number;
}

/** Not in limits: below it, a difference is one of the way, not of the clocks. */
const toleranceMs = 1000;

export class ServerClock {
  #aheadMs = 0;
  /** Of a message from the server. */
  #wayMs = 0;
  #doubtfulMs: number | undefined;

  get aheadMs(): number {
    return this.#aheadMs;
  }

  measure({ helloMs, heardMs, nowMs, welcomeMs }: ClockMeasure): void {
    if (!isTold(heardMs) || !isTold(nowMs)) return;
    this.#aheadMs = (heardMs - helloMs + (nowMs - welcomeMs)) / 2;
    this.#wayMs = Math.max(0, (welcomeMs - helloMs - (nowMs - heardMs)) / 2);
    this.#doubtfulMs = undefined;
  }

  /** @param sentMs when the server sent a message that came at `cameMs` */
  check(sentMs: number, cameMs: number): void {
    if (!isTold(sentMs)) return;
    const shownMs = sentMs + this.#wayMs - cameMs;
    const isNear = (otherMs: number): boolean => Math.abs(shownMs - otherMs) <= toleranceMs;
    const doubtfulMs = this.#doubtfulMs;
    this.#doubtfulMs = undefined;
    if (isNear(this.#aheadMs)) return;
    const isAgreed = doubtfulMs !== undefined && isNear(doubtfulMs);
    if (shownMs > this.#aheadMs || isAgreed) this.#aheadMs = shownMs;
    else this.#doubtfulMs = shownMs;
  }
}

/** A server of an earlier version does not tell the time. */
const isTold = (ms: number | undefined): boolean => ms !== undefined;
