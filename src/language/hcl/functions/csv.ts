import { FunctionFault } from '../../functions/fault.ts';
import type { Budget } from '../budget.ts';
import { objectOf, type ValueObject } from '../value.ts';

/**
 * The rows of a CSV text (RFC 4180) as objects, by the names in the first row. Blank lines are skipped. Every
 * row has as many fields as the first row.
 */
export function csvRows(text: string, budget: Budget): readonly ValueObject[] {
  const [names, ...rows] = [...recordsOf(text, budget)];
  if (names === undefined)
    throw new FunctionFault('the first row names the columns, and is missing', 0);
  const repeated = names.fields.find((name, index) => names.fields.indexOf(name) < index);
  if (repeated !== undefined) {
    throw new FunctionFault(`two columns have the name ${JSON.stringify(repeated)}`, 0);
  }
  const objects = rows.map(({ fields, line }) => {
    if (fields.length !== names.fields.length) {
      const counts = `${fields.length} fields, and the first row has ${names.fields.length}`;
      throw new FunctionFault(`the row on line ${line} has ${counts}`, 0);
    }
    return budget.made(objectOf(names.fields.map((name, index) => [name, fields[index]!])));
  });
  return budget.made(objects);
}

interface CsvRecord {
  readonly fields: readonly string[];
  /** The line where it begins, from 1. */
  readonly line: number;
}

const bare = /[^",\r\n]*/y;
const quoted = /"([^"]*(?:""[^"]*)*)"/y;
const lineEnd = /\r?\n/y;

function* recordsOf(text: string, budget: Budget): Generator<CsvRecord> {
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found;
  };
  while (at < text.length) {
    if (take(lineEnd)) {
      line += 1;
      continue;
    }
    const began = line;
    const fields: string[] = [];
    do {
      budget.work(1);
      const isQuoted = text[at] === '"';
      const found = take(isQuoted ? quoted : bare);
      if (found === null) throw new FunctionFault(`a quote on line ${line} is not closed`, 0);
      const field = isQuoted ? found[1]!.replaceAll('""', '"') : found[0];
      if (isQuoted) line += field.split('\n').length - 1;
      fields.push(field);
    } while (text[at] === ',' && ++at);
    if (at < text.length && !take(lineEnd)) {
      throw new FunctionFault(`a field on line ${line} has a quote within`, 0);
    }
    line += 1;
    yield { fields, line: began };
  }
}
