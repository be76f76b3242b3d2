/** Follows the newest events into a window, and draws it at most some times a second, and rarer the dearer that is. */
import { tick, untrack } from 'svelte';
import type { EventFrame } from '../../../../src/model/event/event.ts';
import type { FollowOptions } from '../../../../src/sdk/events.ts';
import { clock } from '../../app/clock.svelte.ts';
import { live } from '../../app/connection.svelte.ts';
import { problemOf, type ShownProblem } from '../../app/problems.ts';
import { session } from '../../app/session.svelte.ts';
import { EventWindow, type SeenEvent } from './event-window.ts';
import type { Matcher } from './matcher.ts';

/** Not in limits: of the page. */
const rowsMax = 500;
/** The bounds of the pause between two draws while events come without end: the dearer a draw was, the longer it is. */
const drawPauseMinMs = 200;
/** Of events that come too fast for their records, nobody reads more lists than these. */
const briefDrawPauseMinMs = 500;
const drawPauseMaxMs = 2000;
const pauseForCost = 8;

/** Their sum is what was received. */
export interface EventCounts {
  readonly received: number;
  /** Are in the list. */
  readonly shown: number;
  /** Did match, and wait until the reader goes on. */
  readonly waiting: number;
  readonly notShown: number;
  /** Of those that are not shown: how many the server has counted and not sent, by topic. */
  readonly skipped: readonly (readonly [topic: string, count: number])[];
}

const noCounts: EventCounts = { received: 0, shown: 0, waiting: 0, notShown: 0, skipped: [] };

export interface Followed {
  readonly rows: readonly SeenEvent[];
  readonly counts: EventCounts;
  /** Events for each second, over the last seconds. */
  readonly perSecond: number;
  readonly problem: ShownProblem | undefined;
  readonly isFollowing: boolean;
  /** Before this index some events are not known to the server any more. */
  readonly missedBefore: number | undefined;
  readonly isPaused: boolean;
  /** Events come so fast that only the newest are sent, without their records. */
  readonly isBrief: boolean;
  turn(): void;
  clear(): void;
}

interface Wishes {
  /** `undefined`: all. */
  readonly topic: () => string | undefined;
  readonly namespace: () => string;
  readonly matcher: () => Matcher;
}

/** Begins and ends with the component that makes it. */
export class EventFollower implements Followed {
  readonly #kept = new EventWindow(rowsMax);
  rows = $state.raw<readonly SeenEvent[]>([]);
  counts = $state.raw(noCounts);
  perSecond = $state(0);
  problem = $state.raw<ShownProblem | undefined>();
  isFollowing = $state(false);
  missedBefore = $state<number | undefined>();
  isPaused = $state(false);
  isBrief = $state(false);
  /** A line without all of its events has come since the last measurement. */
  #wasBrief = false;
  /** The index from which the stream goes on; `undefined`: from now. */
  #nextIndex: number | undefined;
  /** The number of events that had matched when the reader paused. */
  #matchedBefore = 0;
  #isDue = false;
  #drawnMs = 0;
  #pauseMs = drawPauseMinMs;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ topic, namespace, matcher }: Wishes) {
    $effect(() => {
      void [topic(), namespace(), session.generation];
      untrack(() => this.#begin());
    });
    $effect(() => {
      const wanted = matcher().matches;
      untrack(() => this.#chooseEvents(wanted));
    });
    $effect(() => {
      const { expression: filter } = matcher();
      const given = { topics: [topic() ?? []].flat(), namespace: namespace(), filter };
      void session.generation;
      const ending = new AbortController();
      // The stream begins anew for these wishes alone, whatever else is read on its way.
      untrack(() => void this.#followStream(ending.signal, given));
      return () => ending.abort();
    });
    $effect(() => this.#measure());
  }

  turn(): void {
    this.isPaused = !this.isPaused;
    this.#matchedBefore = this.#kept.matched;
    this.#draw();
  }

  clear(): void {
    this.#kept.clear();
    this.#matchedBefore = 0;
    this.rows = [];
    this.#draw();
  }

  #begin(): void {
    this.problem = undefined;
    this.missedBefore = undefined;
    this.isFollowing = false;
    this.isBrief = false;
    this.#nextIndex = undefined;
    this.clear();
  }

  #draw(): void {
    this.#isDue = false;
    const beganMs = performance.now();
    if (!this.isPaused) this.rows = this.#kept.rows(this.isBrief);
    const { received, matched, skipped } = this.#kept;
    const shown = this.rows.length;
    const waiting = this.isPaused ? matched - this.#matchedBefore : 0;
    this.counts = { received, shown, waiting, notShown: received - shown - waiting, skipped };
    void tick().then(() => {
      this.#drawnMs = performance.now();
      const wanted = pauseForCost * (this.#drawnMs - beganMs);
      const least = this.isBrief ? briefDrawPauseMinMs : drawPauseMinMs;
      this.#pauseMs = Math.min(drawPauseMaxMs, Math.max(least, wanted));
    });
  }

  #drawSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const wait = Math.max(0, this.#drawnMs + this.#pauseMs - performance.now());
    this.#timer = setTimeout(() => requestAnimationFrame(() => this.#draw()), wait);
  }

  /** During a pause only among the shown rows; the events that waited go on waiting. */
  #chooseEvents(wanted: Matcher['matches']): void {
    this.#kept.choose(wanted);
    if (this.isPaused) this.rows = this.rows.filter(({ event }) => wanted(event));
    this.#draw();
  }

  async #followStream(signal: AbortSignal, given: FollowOptions): Promise<void> {
    this.problem = undefined;
    const wanted = { ...given, newest: rowsMax, index: this.#nextIndex, signal };
    try {
      for await (const frame of live().client.events.follow(wanted)) {
        if (signal.aborted) return;
        this.#takeFrame(frame);
      }
    } catch (error) {
      if (!signal.aborted) this.problem = problemOf(error);
    } finally {
      if (!signal.aborted) this.isFollowing = false;
    }
  }

  #takeFrame(frame: EventFrame): void {
    const { Index: index, Events: events = [], Skipped: skipped, Missed, Error: ended } = frame;
    this.isFollowing = true;
    if (Missed === true) this.missedBefore = index;
    if (ended !== undefined) {
      this.problem = { title: 'The stream has ended', detail: ended.Message };
    }
    if (skipped === undefined || index === undefined) return;
    this.#nextIndex = index + 1;
    const isWhole = Object.keys(skipped).length === 0;
    if (isWhole && events.length === 0) return;
    this.#wasBrief = !isWhole || events.some(({ Payload }) => Object.keys(Payload).length === 0);
    this.isBrief ||= this.#wasBrief;
    this.#kept.add(frame, clock.instantMs());
    this.#drawSoon();
  }

  #measure(): () => void {
    const windowSeconds = 2;
    let before = 0;
    const measure = setInterval(() => {
      const { received } = this.#kept;
      this.perSecond = Math.max(0, received - before) / windowSeconds;
      before = received;
      if (!this.#wasBrief) this.isBrief = false;
      this.#wasBrief = false;
    }, windowSeconds * 1000);
    return () => {
      clearInterval(measure);
      clearTimeout(this.#timer);
    };
  }
}
