/**
 * The rows of a long table that are drawn: those on the screen, and some around them. Rows have one height, so the rest
 * is room above and below. Short tables, tables whose rows are cards, and printed tables are drawn whole.
 */
import { flushSync } from 'svelte';

const wholeRows = 120;
const marginRows = 20;
/** Are drawn before it is known how many the screen has room for. */
const firstRows = 20;
/** So many more are drawn in each frame, since all at once would hold up the page. */
const rowsOfFrame = 10;

export interface VisibleRows {
  readonly first: number;
  readonly end: number;
  readonly beforePx: number;
  readonly afterPx: number;
  /** Brings a row near the window of the screen. */
  show(index: number): void;
}

export function visibleRows(
  count: () => number,
  body: () => HTMLElement | null | undefined,
): VisibleRows {
  let top = $state(0);
  let bottom = $state(firstRows);
  /** 0: rows have no common height. `undefined`: not measured yet. */
  let rowPx = $state<number | undefined>();
  const paper = printing();
  /** Other rows in the same number are drawn without a look at the layout, which would have to be made for it. */
  const total = $derived(count());
  const isWhole = $derived(total <= wholeRows || rowPx === 0 || paper.isPrinted);
  const first = $derived(isWhole ? 0 : Math.max(0, Math.min(top, total) - marginRows));
  const grown = growing(() =>
    isWhole ? 0 : Math.min(total, Math.max(bottom, first) + marginRows) - first,
  );
  const end = $derived(isWhole ? total : first + grown.rows);
  const pxOf = (rows: number): number => (isWhole ? 0 : rows * (rowPx ?? 0));

  function measure(): void {
    const element = body();
    if (element == null) return;
    const row = element.querySelector<HTMLElement>('tr[data-index]');
    const isCard = row !== null && getComputedStyle(row).display === 'grid';
    rowPx = row === null ? undefined : isCard ? 0 : row.offsetHeight;
    if (!rowPx) return;
    const from = -element.getBoundingClientRect().top;
    top = Math.floor(Math.max(0, from) / rowPx);
    bottom = Math.ceil(Math.max(0, from + innerHeight) / rowPx);
  }

  $effect(() => {
    void total;
    measure();
    return whenMoved(measure);
  });

  return {
    get first() {
      return first;
    },
    get end() {
      return end;
    },
    get beforePx() {
      return pxOf(first);
    },
    get afterPx() {
      return pxOf(total - end);
    },
    show(index) {
      const element = body();
      if (isWhole || !rowPx || element == null || (index >= first && index < end)) return;
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

/** So many rows as are wanted, but at first few, and some more with each frame. */
function growing(wanted: () => number): { readonly rows: number } {
  let most = $state(firstRows);
  const rows = $derived(Math.min(wanted(), most));
  $effect(() => {
    if (rows === wanted()) return;
    const frame = requestAnimationFrame(() => {
      most += rowsOfFrame;
    });
    return () => cancelAnimationFrame(frame);
  });
  return {
    get rows() {
      return rows;
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
