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

/** How long events are read without a pause. What the page does not read waits on the server. */
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

export function followEvents({ topic, namespace, matches }: Wishes): Followed {
  const kept = new EventWindow(rowsMax);
  let rows = $state.raw<readonly SeenEvent[]>([]);
  let counts = $state.raw<EventCounts>({ received: 0, shown: 0, waiting: 0, notShown: 0 });
  /** How many had matched when the reader paused. */
  let matchedBefore = 0;
  let perSecond = $state(0);
  let problem = $state.raw<ShownProblem | undefined>();
  let isFollowing = $state(false);
  let missedBefore = $state<number | undefined>();
  let isPaused = $state(false);
  let isDue = false;
  let drawnMs = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  let pauseMs = drawPauseMinMs;

  function draw(): void {
    isDue = false;
    const beganMs = performance.now();
    if (!isPaused) rows = kept.rows();
    const { received, matched } = kept;
    const waiting = isPaused ? matched - matchedBefore : 0;
    counts = {
      received,
      shown: rows.length,
      waiting,
      notShown: received - rows.length - waiting,
    };
    void tick().then(() => {
      drawnMs = performance.now();
      const wanted = pauseForCost * (drawnMs - beganMs);
      pauseMs = Math.min(drawPauseMaxMs, Math.max(drawPauseMinMs, wanted));
    });
  }

  function clear(): void {
    kept.clear();
    matchedBefore = 0;
    rows = [];
    draw();
  }

  /** During a pause, only among the rows that are there; those that waited are then not shown. */
  function choose(wanted: Matches): void {
    kept.choose(wanted);
    matchedBefore = kept.matched;
    if (isPaused) rows = rows.filter(({ event }) => wanted(event));
    draw();
  }

  function drawSoon(): void {
    if (isDue) return;
    isDue = true;
    const wait = Math.max(0, drawnMs + pauseMs - performance.now());
    timer = setTimeout(() => requestAnimationFrame(draw), wait);
  }

  let sliceBeganMs = 0;
  /** Lets the browser draw and the reader act while events come without end. */
  async function breathe(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - sliceBeganMs < sliceMs) return;
    await new Promise<void>((resolve) => setTimeout(resolve));
    sliceBeganMs = performance.now();
  }

  async function follow(
    signal: AbortSignal,
    wanted: string | undefined,
    ns: string,
  ): Promise<void> {
    try {
      const frames = live().client.events.follow({
        topics: wanted === undefined ? [] : [wanted],
        namespace: ns,
        signal,
      });
      for await (const { Index = 0, Events, Missed, Error: ended } of frames) {
        isFollowing = true;
        if (Missed === true) missedBefore = Index;
        if (ended !== undefined) {
          problem = { title: 'The stream has ended', detail: ended.Message };
          return;
        }
        if (Events === undefined || Events.length === 0) continue;
        kept.add(Events, Date.now());
        drawSoon();
        await breathe();
      }
    } catch (error) {
      if (!signal.aborted) problem = problemOf(error);
    } finally {
      if (!signal.aborted) isFollowing = false;
    }
  }

  $effect(() => {
    const wanted = topic();
    const ns = namespace();
    void session.generation;
    const ending = new AbortController();
    problem = undefined;
    missedBefore = undefined;
    isFollowing = false;
    untrack(clear);
    void follow(ending.signal, wanted, ns);
    return () => ending.abort();
  });
  $effect(() => {
    const wanted = matches();
    untrack(() => choose(wanted));
  });
  $effect(() => {
    const windowSeconds = 2;
    let before = 0;
    const measure = setInterval(() => {
      const { received } = kept;
      perSecond = Math.max(0, received - before) / windowSeconds;
      before = received;
    }, windowSeconds * 1000);
    return () => {
      clearInterval(measure);
      clearTimeout(timer);
    };
  });

  return {
    get rows() {
      return rows;
    },
    get counts() {
      return counts;
    },
    get perSecond() {
      return perSecond;
    },
    get problem() {
      return problem;
    },
    get isFollowing() {
      return isFollowing;
    },
    get missedBefore() {
      return missedBefore;
    },
    get isPaused() {
      return isPaused;
    },
    turn() {
      isPaused = !isPaused;
      matchedBefore = kept.matched;
      draw();
    },
    clear,
  };
}
