/** Moves the focus between links that stand in rows, by the arrow keys, Home and End. */
export function moveInCells(event: KeyboardEvent, list: HTMLElement): number | undefined {
  const cells = [...list.querySelectorAll<HTMLElement>('a')];
  const now = cells.indexOf(document.activeElement as HTMLElement);
  if (now < 0 || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const next = stepOf(event.key, { now, cells, list });
  if (next === undefined) return undefined;
  event.preventDefault();
  const index = Math.max(0, Math.min(cells.length - 1, next));
  cells[index]?.focus();
  return index;
}

interface Place {
  readonly now: number;
  readonly cells: readonly HTMLElement[];
  readonly list: HTMLElement;
}

function stepOf(key: string, { now, cells, list }: Place): number | undefined {
  const top = cells[0]!.offsetTop;
  const below = cells.findIndex(({ offsetTop }) => offsetTop !== top);
  const perRow = below === -1 ? cells.length : below;
  const forward = getComputedStyle(list).direction === 'rtl' ? -1 : 1;
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: now + forward,
    ArrowLeft: now - forward,
    ArrowDown: now + perRow,
    ArrowUp: now - perRow,
    Home: 0,
    End: cells.length - 1,
  };
  return steps[key];
}
