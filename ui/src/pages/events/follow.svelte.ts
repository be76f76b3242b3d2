/** Follows the event stream into a window, and draws it at most once a frame, and rarer the more comes. */
import { tick, untrack } from 'svelte';
import type { EventFrame } from '../../../../src/model/event/event.ts';
import { live } from '../../app/connection.svelte.ts';
import { problemOf, type ShownProblem } from '../../app/problems.ts';
import { session } from '../../app/session.svelte.ts';
import { EventWindow, type Matches, type SeenEvent } from './event-window.ts';
import { StreamPlace } from './stream-place.ts';

/** Not in limits: of the page. */
const rowsMax = 500;
/** The bounds of the pause between two draws while events come without end: the dearer a draw was, the longer it is. */
const drawPauseMinMs = 200;
const drawPauseMaxMs = 2000;
const pauseForCost = 8;

/** The time for which events are read without a pause. Events that the page does not read wait on the server. */
const sliceMs = 8;

/** Events in half a second that are too many to read with their records, and few enough to read them again. */
const rateWindowMs = 500;
const fastPerWindow = 500;
const calmPerWindow = 100;
const calmWindowsMin = 10;

/** Their sum is what was received. */
export interface EventCounts {
  readonly received: number;
  /** Are in the list. */
  readonly shown: number;
  /** Did match, and wait until the reader goes on. */
  readonly waiting: number;
  readonly notShown: number;
}

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
  /** Events come without their records, since they come so fast. */
  readonly isBrief: boolean;
  turn(): void;
  clear(): void;
}

interface Wishes {
  /** `undefined`: all. */
  readonly topic: () => string | undefined;
  readonly namespace: () => string;
  readonly matches: () => Matches;
}

/** Begins and ends with the component that makes it. */
export class EventFollower implements Followed {
  readonly #kept = new EventWindow(rowsMax);
  rows = $state.raw<readonly SeenEvent[]>([]);
  counts = $state.raw<EventCounts>({ received: 0, shown: 0, waiting: 0, notShown: 0 });
  perSecond = $state(0);
  problem = $state.raw<ShownProblem | undefined>();
  isFollowing = $state(false);
  missedBefore = $state<number | undefined>();
  isPaused = $state(false);
  isBrief = $state(false);
  #rateBeganMs = 0;
  #rateCount = 0;
  #calmWindows = 0;
  /** The number of events that had matched when the reader paused. */
  #matchedBefore = 0;
  #isDue = false;
  #drawnMs = 0;
  #pauseMs = drawPauseMinMs;
  #sliceBeganMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ topic, namespace, matches }: Wishes) {
    $effect(() => {
      const [wanted, ns] = [topic(), namespace()];
      void session.generation;
      const ending = new AbortController();
      // The stream begins anew for these wishes alone, whatever else is read on its way.
      untrack(() => {
        this.#begin();
        void this.#followStream(ending.signal, wanted, ns);
      });
      return () => ending.abort();
    });
    $effect(() => {
      const wanted = matches();
      untrack(() => this.#chooseEvents(wanted));
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
    this.clear();
  }

  #draw(): void {
    this.#isDue = false;
    const beganMs = performance.now();
    if (!this.isPaused) this.rows = this.#kept.rows();
    const { received, matched } = this.#kept;
    const shown = this.rows.length;
    const waiting = this.isPaused ? matched - this.#matchedBefore : 0;
    this.counts = { received, shown, waiting, notShown: received - shown - waiting };
    void tick().then(() => {
      this.#drawnMs = performance.now();
      const wanted = pauseForCost * (this.#drawnMs - beganMs);
      this.#pauseMs = Math.min(drawPauseMaxMs, Math.max(drawPauseMinMs, wanted));
    });
  }

  #drawSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const wait = Math.max(0, this.#drawnMs + this.#pauseMs - performance.now());
    this.#timer = setTimeout(() => requestAnimationFrame(() => this.#draw()), wait);
  }

  /** During a pause only among the shown rows; the events that waited go on waiting. */
  #chooseEvents(wanted: Matches): void {
    this.#kept.choose(wanted);
    if (this.isPaused) this.rows = this.rows.filter(({ event }) => wanted(event));
    this.#draw();
  }

  /** Lets the browser draw and the reader act while events come without end. */
  async #breathe(): Promise<void> {
    if (performance.now() - this.#sliceBeganMs < sliceMs) return;
    await new Promise<void>((resolve) => setTimeout(resolve));
    this.#sliceBeganMs = performance.now();
  }

  async #followStream(
    signal: AbortSignal,
    topic: string | undefined,
    namespace: string,
  ): Promise<void> {
    const topics = topic === undefined ? [] : [topic];
    const place = new StreamPlace();
    try {
      while (!signal.aborted && this.problem === undefined) {
        const withoutRecords = this.isBrief;
        const given = { topics, namespace, index: place.beginAgain(), withoutRecords, signal };
        await this.#followFrames(live().client.events.follow(given), place);
      }
    } catch (error) {
      if (!signal.aborted) this.problem = problemOf(error);
    } finally {
      if (!signal.aborted) this.isFollowing = false;
    }
  }

  /** Resolves when the stream has ended, or when it has to begin again with or without records. */
  async #followFrames(frames: AsyncGenerator<EventFrame>, place: StreamPlace): Promise<void> {
    const wasBrief = this.isBrief;
    for await (const frame of frames) {
      const { Index = 0, Missed, Error: ended } = frame;
      this.isFollowing = true;
      if (Missed === true) {
        this.missedBefore = Index;
        this.isBrief = true;
      }
      if (ended !== undefined) {
        this.problem = { title: 'The stream has ended', detail: ended.Message };
        return;
      }
      const events = place.pass(frame);
      if (events.length > 0) {
        this.#kept.add(events, Date.now());
        this.#drawSoon();
        this.#noteRate(events.length);
        await this.#breathe();
      }
      if (this.isBrief !== wasBrief) return;
    }
  }

  /** Records are left out as soon as events come too fast for them, and come again when it has been calm for a while. */
  #noteRate(count: number): void {
    const nowMs = performance.now();
    if (nowMs - this.#rateBeganMs > rateWindowMs) {
      this.#calmWindows = this.#rateCount < calmPerWindow ? this.#calmWindows + 1 : 0;
      this.#rateBeganMs = nowMs;
      this.#rateCount = 0;
    }
    this.#rateCount += count;
    if (this.#rateCount > fastPerWindow) this.isBrief = true;
    else if (this.#calmWindows > calmWindowsMin) this.isBrief = false;
  }

  #measure(): () => void {
    const windowSeconds = 2;
    let before = 0;
    const measure = setInterval(() => {
      const { received } = this.#kept;
      this.perSecond = Math.max(0, received - before) / windowSeconds;
      before = received;
    }, windowSeconds * 1000);
    return () => {
      clearInterval(measure);
      clearTimeout(this.#timer);
    };
  }
}
