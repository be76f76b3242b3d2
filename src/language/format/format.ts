/**
 * The canonical form of HCL text.
 *
 * Invariants
 *  F1. The parsed tree stays the same: only space between tokens changes, where it has no meaning. Strings,
 *      heredocs and comments stay as they are written.
 *  F2. Formatting twice changes nothing.
 */
import { parseHcl, type TextOptions } from '../hcl/parse.ts';
import { type Line, linesOf, type Piece } from './tokens.ts';

/**
 * Formats the text: two spaces for each level, a space between tokens, aligned `=` and comments of
 * successive lines, no two blank lines together, and a new line at the end.
 * @throws HclError if the text is not HCL
 */
export function formatHcl(text: string, options: TextOptions = {}): string {
  const lines = withoutNeedlessBlanks(linesOf(text, parseHcl(text, options)));
  const written = indented(lines);
  alignAssignments(written);
  alignComments(written);
  const rows = written.map(({ indent, code, comment }) =>
    `${code === '' && comment === '' ? '' : '  '.repeat(indent)}${code}${comment}`.replace(
      / +$/,
      '',
    ),
  );
  return rows.length === 0 ? '' : `${rows.join('\n')}\n`;
}

interface Written {
  readonly indent: number;
  /** The name of the attribute that the line sets, if any. */
  readonly name: string | undefined;
  code: string;
  /** The comment at the end of the line, with the space before it. */
  comment: string;
}

/** Keeps at most one blank line, and none at the beginning, at the end, or next to braces inside of them. */
function withoutNeedlessBlanks(lines: readonly Line[]): readonly Line[] {
  const kept: Line[] = [];
  for (const line of lines) {
    const before = kept.at(-1);
    const isNeedless = before === undefined || before.length === 0 || opens(before.at(-1)!);
    if (line.length === 0 && isNeedless) continue;
    if (line.length > 0 && closes(line[0]!) && before?.length === 0) kept.pop();
    kept.push(line);
  }
  if (kept.at(-1)?.length === 0) kept.pop();
  return kept;
}

const opens = ({ kind, text }: Piece): boolean =>
  kind === 'symbol' && (text === '{' || text === '[' || text === '(');
const closes = ({ kind, text }: Piece): boolean =>
  kind === 'symbol' && (text === '}' || text === ']' || text === ')');

function indented(lines: readonly Line[]): Written[] {
  /** The indents of the lines with the open brackets. */
  const open: number[] = [];
  return lines.map((line) => {
    let leading = 0;
    while (leading < line.length && closes(line[leading]!)) leading++;
    const outer = leading > 0 ? open.at(-leading) : undefined;
    const indent = outer ?? (open.length === 0 ? 0 : open.at(-1)! + 1);
    for (const piece of line) {
      if (opens(piece)) open.push(indent);
      else if (closes(piece)) open.pop();
    }
    return written(line, indent);
  });
}

function written(line: Line, indent: number): Written {
  const last = line.at(-1);
  const hasComment = last?.kind === 'comment' && line.length > 1 && !last.text.startsWith('/*');
  const pieces = hasComment ? line.slice(0, -1) : line;
  const isAttribute = pieces.length > 2 && isName(pieces[0]!) && pieces[1]!.text === '=';
  let code = '';
  pieces.forEach((piece, index) => {
    if (index > 0 && isSpaced(pieces[index - 1]!, piece)) code += ' ';
    code += piece.text;
  });
  return {
    indent,
    name: isAttribute ? pieces[0]!.text : undefined,
    code,
    comment: hasComment ? ` ${last.text}` : '',
  };
}

const isName = ({ kind, text }: Piece): boolean =>
  kind === 'name' || (kind === 'string' && !text.includes('\n'));

const spacedOnBothSides = new Set(['=', '==', '!=', '<=', '>=', '=>', '&&', '||', '?', ':']);

/** Whether there is a space between the pieces. It stays as written where it could have a meaning. */
function isSpaced(left: Piece, right: Piece): boolean {
  if (left.kind === 'comment' || right.kind === 'comment') return true;
  const before = left.kind === 'symbol' ? left.text : '';
  const after = right.kind === 'symbol' ? right.text : '';
  if (after === ',') return false;
  if (before === ',') return after !== ')' && after !== ']';
  if (before === '{' && after === '}') return false;
  if (before === '(' || before === '[' || after === ')' || after === ']') return false;
  if (before === '{' || after === '}' || after === '{') return true;
  if (spacedOnBothSides.has(before) || spacedOnBothSides.has(after)) return true;
  if (right.kind === 'heredoc') return true;
  // Between two labels or names.
  if (before === '' && after === '') return true;
  return right.spaced;
}

/** Aligns the `=` of successive lines of the same depth. */
function alignAssignments(lines: readonly Written[]): void {
  inRows(
    lines,
    (line) => line.name !== undefined,
    (row) => {
      const width = Math.max(...row.map(({ name }) => widthOf(name!)));
      for (const line of row) {
        const name = line.name!;
        line.code = `${name}${' '.repeat(width - widthOf(name))}${line.code.slice(name.length)}`;
      }
    },
  );
}

function alignComments(lines: readonly Written[]): void {
  inRows(
    lines,
    (line) => line.comment !== '' && !line.code.includes('\n'),
    (row) => {
      const width = Math.max(...row.map(({ code }) => widthOf(code)));
      for (const line of row) {
        line.comment = ' '.repeat(width - widthOf(line.code)) + line.comment;
      }
    },
  );
}

function inRows(
  lines: readonly Written[],
  belongs: (line: Written) => boolean,
  align: (row: readonly Written[]) => void,
): void {
  let row: Written[] = [];
  for (const line of lines) {
    if (row.length > 0 && (!belongs(line) || line.indent !== row[0]!.indent)) {
      align(row);
      row = [];
    }
    if (belongs(line)) row.push(line);
    // A text of several lines ends its row.
    if (row.length > 0 && line.code.includes('\n')) {
      align(row);
      row = [];
    }
  }
  if (row.length > 0) align(row);
}

const widthOf = (text: string): number => [...text].length;
