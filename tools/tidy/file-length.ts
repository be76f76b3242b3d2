/** A file can be read in one sitting. Tables of data (`data-tables.ts`) and files that a tool writes do not count. */
import { linesOfTables } from './data-tables.ts';
import type { Rule } from './rule.ts';

const linesMax = 400;

export const fileLength: Rule = {
  name: 'file-length',
  prepare: () => (source) => {
    if (source.path.endsWith('.generated.ts')) return [];
    const lines = source.text.trimEnd().split('\n').length;
    if (lines <= linesMax) return [];
    const counted = lines - linesOfTables(source, source.tree);
    if (counted <= linesMax) return [];
    return [{ line: 1, message: `the file has ${counted} lines: at most ${linesMax}` }];
  },
};
