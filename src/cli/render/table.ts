import Table from 'cli-table3';
import stringWidth from 'string-width';

/** The space between two columns. */
const gap = '  ';
/** A column of sentences is never narrower: lines of two words are harder to read than a record of lines. */
const sentenceWidth = 16;

const noBorders = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left']
    .concat(['bottom-right', 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
    .map((name) => [name, '']),
);

type Row = readonly string[];

/**
 * The lines of a table, whose first row is the head. Words are never broken, and nothing is lost but columns without a
 * value. Where the table is too wide, these steps are taken until it fits:
 *  1. Columns of several words are wrapped between words, the widest first.
 *  2. Columns without a value are left out.
 *  3. Columns with the same value in every row are left out, the widest first, and told in a line below.
 * @returns `undefined` if the table does not fit even so
 */
export function tableLines(rows: readonly Row[], columns: number): readonly string[] | undefined {
  const all = columnsOf(rows);
  const told = all.filter((cells, at) => at > 0 && !isBlank(cells));
  const same = told.filter(isSame).sort((left, right) => widthOf(right) - widthOf(left));
  for (let count = -1; count <= same.length; count++) {
    const left = new Set(same.slice(0, Math.max(0, count)));
    const shown =
      count < 0
        ? all
        : all.filter((cells, at) => at === 0 || (told.includes(cells) && !left.has(cells)));
    const widths = fittingWidths(shown, columns);
    if (widths === undefined) continue;
    const lines = drawn(shown, widths);
    const below = all
      .filter((cells) => left.has(cells))
      .map(([title, value]) => `${title} ${value}`);
    return below.length === 0
      ? lines
      : [...lines, ...wrapped(`In every row: ${below.join(', ')}`, columns)];
  }
  return undefined;
}

/** A column, from its title down. */
type Column = readonly string[];

function columnsOf(rows: readonly Row[]): readonly Column[] {
  const count = Math.max(0, ...rows.map(({ length }) => length));
  return Array.from({ length: count }, (_, at) => rows.map((row) => row[at] ?? ''));
}

const widthOf = (cells: Column): number => Math.max(0, ...cells.map((cell) => stringWidth(cell)));

const isBlank = ([, ...cells]: Column): boolean =>
  cells.every((cell) => cell === '-' || cell === '');

/** A single row has no column that is the same in every row. */
const isSame = ([, ...cells]: Column): boolean => cells.length > 1 && new Set(cells).size === 1;

function drawn(all: readonly Column[], widths: readonly number[]): readonly string[] {
  const table = new Table({
    chars: { ...noBorders, middle: gap },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colWidths: [...widths],
    wordWrap: true,
  });
  table.push(...(all[0]?.map((_, row) => all.map((cells) => cells[row]!)) ?? []));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

/** The widths of the columns; `undefined` if they do not fit. */
function fittingWidths(cells: readonly Column[], columns: number): readonly number[] | undefined {
  const widths = cells.map(widthOf);
  const least = cells.map((column, at) => {
    const longestWord = Math.max(
      0,
      ...column.flatMap((cell) => cell.split(/\s+/)).map((word) => stringWidth(word)),
    );
    return Math.max(longestWord, Math.min(widths[at]!, sentenceWidth));
  });
  const room = columns - gap.length * (cells.length - 1);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  if (sum(least) > room) return undefined;
  for (let over = sum(widths) - room; over > 0; over--) {
    const slack = widths.map((width, at) => (width > least[at]! ? width : -1));
    widths[slack.indexOf(Math.max(...slack))]!--;
  }
  return widths;
}

/** The lines of the rows one below the other: the title of each value before it. */
export function recordLines(
  [head = [], ...rows]: readonly Row[],
  columns: number,
): readonly string[] {
  return rows.flatMap((row, at) => {
    const lines = fieldLines(
      row.map((value, column) => [head[column] ?? '', value] as const),
      columns,
    );
    return at === 0 ? lines : ['', ...lines];
  });
}

/** Two columns without a head. A value that does not fit beside its name is wrapped between words below itself. */
export function fieldLines(
  rows: readonly (readonly [name: string, value: string])[],
  columns: number,
): readonly string[] {
  const width = Math.max(0, ...rows.map(([name]) => stringWidth(name)));
  const room = columns - width - gap.length;
  return rows.flatMap(([name, value]) => {
    const before = name + ' '.repeat(width - stringWidth(name)) + gap;
    return wrapped(value, room).map((line, at) =>
      (at === 0 ? before + line : ' '.repeat(width + gap.length) + line).trimEnd(),
    );
  });
}

/** The text in lines of whole words. A longer word has a line for itself. */
function wrapped(text: string, width: number): readonly string[] {
  if (stringWidth(text) <= width) return [text];
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && stringWidth(line) <= width) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines;
}
