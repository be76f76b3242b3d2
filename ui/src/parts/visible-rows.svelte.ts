/**
 * The rows of a long table that are drawn: those on the screen, and some around them. Rows have one height, so the rest
 * is room above and below. Short tables, tables whose rows are cards, and printed tables are drawn whole. New rows are
 * drawn some in each frame, from the first row on the screen, since many together would hold up the page.
 */
import { flushSync } from 'svelte';

const wholeRows = 60;
const marginRows = 20;
/** So many rows fill the screen, until it is known how many do. */
const screenRows = 20;
const newRowsOfFrame = 15;

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
    most: paper.isPrinted ? total : newRowsOfFrame,
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
    measure();
    return whenMoved(measure);
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

/** Calls `measure` before the next frame when the window moves over the page. Returns the end. */
function whenMoved(measure: () => void): () => void {
  let isDue = false;
  const later = (): void => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      measure();
    });
  };
  addEventListener('scroll', later, { passive: true });
  addEventListener('resize', later, { passive: true });
  return () => {
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
  /** So many of them may be new in a frame. */
  readonly most: number;
}

interface Range {
  readonly first: number;
  readonly end: number;
}

/** The wanted rows that are drawn in this frame. */
function inFrames(wanted: () => Wanted): { readonly range: Range } {
  /** The keys of the rows at the end of the last frame. */
  let drawn: ReadonlySet<string> = new Set();
  let frames = $state(0);
  const now = $derived(wanted());
  const range = $derived.by((): Range => {
    void frames;
    const { keys, from } = now;
    let left = now.most;
    const fits = (at: number): boolean => drawn.has(keys[at]!) || left-- > 0;
    let [first, end] = [from, from];
    while (end < now.end && fits(end)) end++;
    while (first > now.first && fits(first - 1)) first--;
    return { first, end };
  });
  $effect(() => {
    const { keys, first, end } = now;
    const shown = range;
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
