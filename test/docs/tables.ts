/** The rows of a markdown table, each by its column's heading. */
export type Row = Readonly<Record<string, string>>;

/** The table with just these headings. @throws Error when there is none */
export function tableOf(markdown: string, headings: readonly string[]): readonly Row[] {
  const lines = markdown.split('\n');
  const head = lines.findIndex((line) => cellsOf(line).join() === headings.join());
  if (head < 0) throw new Error(`there is no table of ${headings.join(', ')}`);
  const rows: Row[] = [];
  for (const line of lines.slice(head + 2)) {
    if (!line.startsWith('|')) break;
    const cells = cellsOf(line);
    rows.push(Object.fromEntries(headings.map((heading, at) => [heading, cells[at] ?? ''])));
  }
  return rows;
}

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The texts between backquotes. */
export const codesIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
