/** Follows the event stream into a window, and draws it at most once a frame, and rarer the more comes. */
import { tick, untrack } from 'svelte';
import { live } from '../../app/connection.svelte.ts';
import { problemOf, type ShownProblem } from '../../app/problems.ts';
import { session } from '../../app/session.svelte.ts';
import { EventWindow, type Matches, type SeenEvent } from './event-window.ts';

/** Not in limits: of the page. */
const rowsMax = 500;
/** The bounds of the pause between two draws while events come without end: the dearer a draw was, the longer it is. */
const drawPauseMinMs = 200;
const drawPauseMaxMs = 2000;
const pauseForCost = 8;

/** The time for which events are read without a pause. Events that the page does not read wait on the server. */
const sliceMs = 8;

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
      untrack(() => this.#begin());
      void this.#followStream(ending.signal, wanted, ns);
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
    try {
      const frames = live().client.events.follow({ topics, namespace, signal });
      for await (const { Index = 0, Events, Missed, Error: ended } of frames) {
        this.isFollowing = true;
        if (Missed === true) this.missedBefore = Index;
        if (ended !== undefined) {
          this.problem = { title: 'The stream has ended', detail: ended.Message };
          return;
        }
        if (Events === undefined || Events.length === 0) continue;
        this.#kept.add(Events, Date.now());
        this.#drawSoon();
        await this.#breathe();
      }
    } catch (error) {
      if (!signal.aborted) this.problem = problemOf(error);
    } finally {
      if (!signal.aborted) this.isFollowing = false;
    }
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
