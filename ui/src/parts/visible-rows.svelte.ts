/**
 * The rows of a long table that are drawn: those on the screen, and some around them. Rows have one height, so the rest
 * is room above and below. Short tables, tables whose rows are cards, and printed tables are drawn whole. New rows are
 * drawn some in each frame, from the first row on the screen, since many together would hold up the page: as many as the
 * machine makes in a few milliseconds now.
 */
import { flushSync } from 'svelte';

const wholeRows = 60;
const marginRows = 10;
/** So many rows fill the screen, until it is known how many do. */
const screenRows = 20;
/** The time for the new rows of a frame; their layout and paint take about twice as long. */
const rowsOfFrameMs = 5;
const newRowsMin = 4;
const newRowsMax = 20;
/** The share of the last rows in what is known of the time of a row. */
const newestShare = 0.3;

export interface VisibleRows {
  readonly first: number;
  readonly end: number;
  readonly beforePx: number;
  readonly afterPx: number;
  /** Brings a row near the window of the screen. */
  show(index: number): void;
}

/** `keys`: of all rows, in their order. */
export function visibleRows(
  keys: () => readonly string[],
  body: () => HTMLElement | null | undefined,
): VisibleRows {
  let top = $state(0);
  let bottom = $state(screenRows);
  /** 0: rows have no common height. `undefined`: not measured yet. */
  let rowPx = $state<number | undefined>();
  const paper = printing();
  const all = $derived(keys());
  /** Other rows in the same number are drawn without a look at the layout, which would have to be made for it. */
  const total = $derived(all.length);
  const isWhole = $derived(total <= wholeRows || rowPx === 0 || paper.isPrinted);
  const from = $derived(Math.min(top, total));
  const drawn = inFrames(() => ({
    keys: all,
    first: isWhole ? 0 : Math.max(0, from - marginRows),
    from,
    end: isWhole ? total : Math.min(total, Math.max(bottom, from) + marginRows),
    atOnce: paper.isPrinted,
  }));
  const pxOf = (rows: number): number => rows * (rowPx ?? 0);

  function measure(): void {
    const element = body();
    if (element == null) return;
    const row = element.querySelector<HTMLElement>('tr[data-index]');
    const isCard = row !== null && getComputedStyle(row).display === 'grid';
    rowPx = row === null ? undefined : isCard ? 0 : row.offsetHeight;
    if (!rowPx) return;
    const abovePx = -element.getBoundingClientRect().top;
    top = Math.floor(Math.max(0, abovePx) / rowPx);
    bottom = Math.ceil(Math.max(0, abovePx + innerHeight) / rowPx);
  }

  $effect(() => {
    void total;
    return inNextFrames(measure);
  });

  return {
    get first() {
      return drawn.range.first;
    },
    get end() {
      return drawn.range.end;
    },
    get beforePx() {
      return pxOf(drawn.range.first);
    },
    get afterPx() {
      return pxOf(total - drawn.range.end);
    },
    show(index) {
      const element = body();
      const { first, end } = drawn.range;
      if (!rowPx || element == null || (index >= first && index < end)) return;
      scrollBy(0, element.getBoundingClientRect().top + index * rowPx - innerHeight / 2);
      measure();
    },
  };
}

/** Calls `measure` in the next frame, when the layout is there, and after each move of the window. Returns the end. */
function inNextFrames(measure: () => void): () => void {
  let frame: number | undefined;
  const later = (): void => {
    frame ??= requestAnimationFrame(() => {
      frame = undefined;
      measure();
    });
  };
  addEventListener('scroll', later, { passive: true });
  addEventListener('resize', later, { passive: true });
  later();
  return () => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    removeEventListener('scroll', later);
    removeEventListener('resize', later);
  };
}

interface Wanted {
  readonly keys: readonly string[];
  readonly first: number;
  /** The row to begin with. */
  readonly from: number;
  readonly end: number;
  /** Whether all are drawn in this frame. */
  readonly atOnce: boolean;
}

interface Range {
  readonly first: number;
  readonly end: number;
}

/** The wanted rows that are drawn in this frame. */
function inFrames(wanted: () => Wanted): { readonly range: Range } {
  /** The keys of the rows at the end of the last frame. */
  let drawn: ReadonlySet<string> = new Set();
  const times = new RowTimes();
  let frames = $state(0);
  const now = $derived(wanted());
  const range = $derived.by((): Range => {
    void frames;
    const { keys, from, atOnce } = now;
    const most = atOnce ? keys.length : times.rowsOfFrame;
    let made = 0;
    const fits = (at: number): boolean => {
      if (drawn.has(keys[at]!)) return true;
      made += 1;
      return made <= most;
    };
    let [first, end] = [from, from];
    while (end < now.end && fits(end)) end++;
    while (first > now.first && fits(first - 1)) first--;
    times.begin(Math.min(made, most));
    return { first, end };
  });
  $effect(() => {
    const { keys, first, end } = now;
    const shown = range;
    times.end();
    const frame = requestAnimationFrame(() => {
      drawn = new Set(keys.slice(shown.first, shown.end));
      if (shown.first > first || shown.end < end) frames += 1;
    });
    return () => cancelAnimationFrame(frame);
  });
  return {
    get range() {
      return range;
    },
  };
}

/** How long rows take to be made. A guess at first. */
class RowTimes {
  #rowMs = 1;
  #beganMs = 0;
  #made = 0;

  get rowsOfFrame(): number {
    const fitting = Math.round(rowsOfFrameMs / this.#rowMs);
    return Math.max(newRowsMin, Math.min(newRowsMax, fitting));
  }

  begin(rows: number): void {
    this.#made = rows;
    this.#beganMs = performance.now();
  }

  end(): void {
    if (this.#made < newRowsMin) return;
    const rowMs = (performance.now() - this.#beganMs) / this.#made;
    this.#rowMs += newestShare * (rowMs - this.#rowMs);
    this.#made = 0;
  }
}

function printing(): { readonly isPrinted: boolean } {
  let isPrinted = $state(false);
  $effect(() => {
    const print = matchMedia('print');
    const follow = (): void => {
      // The browser prints as soon as the listeners have returned.
      flushSync(() => {
        isPrinted = print.matches;
      });
    };
    print.addEventListener('change', follow);
    return () => print.removeEventListener('change', follow);
  });
  return {
    get isPrinted() {
      return isPrinted;
    },
  };
}
