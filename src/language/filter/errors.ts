/**
 * A fault of a filter expression, with its place. This folder throws no other errors. Callers answer it
 * with 400.
 */
export class FilterError extends Error {
  override readonly name = 'FilterError';
  /** The fault without its place. In `message`, line and column follow it. */
  readonly sentence: string;
  /** 0-based, in UTF-16 code units of `expression`. */
  readonly offset: number;
  readonly expression: string;
  /** Both 1-based. */
  readonly line: number;
  readonly column: number;
  /** Two lines: the part of the expression around the place, and a caret below the place. */
  readonly excerpt: string;

  constructor(sentence: string, expression: string, offset: number) {
    const before = expression.slice(0, offset);
    const lineStart = before.lastIndexOf('\n') + 1;
    const line = before.split('\n').length;
    const column = offset - lineStart + 1;
    super(`${sentence} (line ${line}, column ${column})`);
    this.sentence = sentence;
    this.offset = offset;
    this.expression = expression;
    this.line = line;
    this.column = column;
    this.excerpt = excerptAt(expression, lineStart, offset);
  }
}

const excerptWidth = 72;

function excerptAt(expression: string, lineStart: number, offset: number): string {
  const newline = expression.indexOf('\n', offset);
  const lineEnd = newline < 0 ? expression.length : newline;
  const start = Math.max(lineStart, offset - excerptWidth / 2);
  const end = Math.min(lineEnd, start + excerptWidth);
  const head = start > lineStart ? '…' : '';
  const tail = end < lineEnd ? '…' : '';
  // A tab would shift the caret.
  const text = expression.slice(start, end).replace(/[\t\r]/g, ' ');
  return `${head}${text}${tail}\n${' '.repeat(head.length + offset - start)}^`;
}

const suggestions = 3;

/** The known names that are similar to `name`, the most similar name first. */
export function nearestNames(name: string, known: readonly string[]): readonly string[] {
  const folded = name.toLowerCase();
  const bound = Math.max(2, Math.floor(name.length / 3));
  return known
    .map((candidate) => {
      const other = candidate.toLowerCase();
      const starts = folded.length >= 3 && (other.startsWith(folded) || folded.startsWith(other));
      return { candidate, distance: starts ? 1.5 : distance(folded, other, bound) };
    })
    .filter(({ distance }) => distance <= bound)
    .sort(
      (left, right) =>
        left.distance - right.distance || (left.candidate < right.candidate ? -1 : 1),
    )
    .slice(0, suggestions)
    .map(({ candidate }) => candidate);
}

/** The number of edits between two words; any greater number if it exceeds `bound`. */
function distance(left: string, right: string, bound: number): number {
  if (Math.abs(left.length - right.length) > bound) return bound + 1;
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const replaced = row[j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[right.length]!;
}
