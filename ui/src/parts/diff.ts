/** Differences of two texts by lines. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'gap';
  readonly text: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** Not in limits: above this product of lines, the middle is shown as removed and added whole. */
const cellsMax = 4_000_000;
const contextLines = 3;

export function diffLines(before: string, after: string): readonly DiffLine[] {
  const old = before.split('\n');
  const now = after.split('\n');
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let tail = 0;
  while (
    tail < old.length - start &&
    tail < now.length - start &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  ) {
    tail += 1;
  }
  const middle = changes(old.slice(start, old.length - tail), now.slice(start, now.length - tail));
  return numbered([
    ...old.slice(0, start).map((text) => ({ kind: 'same' as const, text })),
    ...middle,
    ...old.slice(old.length - tail).map((text) => ({ kind: 'same' as const, text })),
  ]);
}

type Change = Pick<DiffLine, 'kind' | 'text'>;

/** By the longest common subsequence. */
function changes(old: readonly string[], now: readonly string[]): Change[] {
  const removed = (text: string): Change => ({ kind: 'removed', text });
  const added = (text: string): Change => ({ kind: 'added', text });
  if (old.length * now.length > cellsMax) return [...old.map(removed), ...now.map(added)];
  const width = now.length + 1;
  const length = new Uint32Array((old.length + 1) * width);
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      length[row * width + column] =
        old[row] === now[column]
          ? length[(row + 1) * width + column + 1]! + 1
          : Math.max(length[(row + 1) * width + column]!, length[row * width + column + 1]!);
    }
  }
  const lines: Change[] = [];
  let row = 0;
  let column = 0;
  while (row < old.length && column < now.length) {
    if (old[row] === now[column]) {
      lines.push({ kind: 'same', text: old[row]! });
      row += 1;
      column += 1;
    } else if (length[(row + 1) * width + column]! >= length[row * width + column + 1]!) {
      lines.push(removed(old[row]!));
      row += 1;
    } else {
      lines.push(added(now[column]!));
      column += 1;
    }
  }
  return [...lines, ...old.slice(row).map(removed), ...now.slice(column).map(added)];
}

function numbered(lines: readonly Change[]): DiffLine[] {
  let before = 0;
  let after = 0;
  return lines.map(({ kind, text }) => {
    if (kind !== 'added') before += 1;
    if (kind !== 'removed') after += 1;
    return {
      kind,
      text,
      before: kind === 'added' ? undefined : before,
      after: kind === 'removed' ? undefined : after,
    };
  });
}

/** Without the lines that are far from every change. */
export function folded(lines: readonly DiffLine[]): readonly DiffLine[] {
  const near = new Set<number>();
  for (const [index, { kind }] of lines.entries()) {
    if (kind === 'same') continue;
    for (let at = index - contextLines; at <= index + contextLines; at += 1) near.add(at);
  }
  const shown: DiffLine[] = [];
  let hidden = 0;
  const gap = (): void => {
    if (hidden > 0) {
      const text = `${hidden} ${hidden === 1 ? 'line' : 'lines'} without changes`;
      shown.push({ kind: 'gap', text, before: undefined, after: undefined });
    }
    hidden = 0;
  };
  for (const [index, line] of lines.entries()) {
    if (!near.has(index)) {
      hidden += 1;
      continue;
    }
    gap();
    shown.push(line);
  }
  gap();
  return shown;
}
