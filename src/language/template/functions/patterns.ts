import { PatternError } from '../../filter/regex/pattern.ts';
import { compileSearch, type Match, type Search } from '../../filter/regex/search.ts';
import type { TemplateBudget } from '../budget.ts';
import { define, FunctionFault, type Functions, text } from './define.ts';

/** Patterns are RE2's, and take time that is linear in the text. */
export const patternFunctions: Functions = {
  regexMatch: define([text('pattern'), text('text')], ([pattern, value], { budget }) => {
    return compiled(pattern, budget).next(value, 0, counted(budget)) !== undefined;
  }),
  regexReplaceAll: define(
    [text('pattern'), text('replacement'), text('text')],
    ([pattern, replacement, value], { budget }) => {
      const search = compiled(pattern, budget);
      let result = '';
      let at = 0;
      const add = (piece: string): void => {
        budget.make(piece.length);
        result += piece;
      };
      for (const match of matchesIn(search, value, budget)) {
        add(value.slice(at, match.start));
        budget.work(1 + (replacement.length >> 3));
        add(expanded(replacement, match, value, search));
        at = match.end;
      }
      add(value.slice(at));
      return result;
    },
  ),
};

function compiled(pattern: string, budget: TemplateBudget): Search {
  budget.work(pattern.length);
  try {
    const search = compileSearch(pattern);
    budget.work(search.size);
    return search;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new FunctionFault(`the pattern cannot be used: ${error.message}`, 0);
  }
}

const counted = (budget: TemplateBudget) => (steps: number) => budget.work(1 + steps);

/** From left to right, none within another; an empty one does not touch the one before it. */
function* matchesIn(search: Search, value: string, budget: TemplateBudget): Iterable<Match> {
  let at = 0;
  let previousEnd = -1;
  while (at <= value.length) {
    const match = search.next(value, at, counted(budget));
    if (match === undefined) return;
    const isEmpty = match.end === match.start;
    if (!isEmpty || match.start !== previousEnd) {
      yield match;
      previousEnd = match.end;
    }
    const step = (value.codePointAt(match.end) ?? 0) > 0xffff ? 2 : 1;
    at = isEmpty ? match.end + step : match.end;
  }
}

const reference = /\$(?:\$|([A-Za-z0-9_]+)|\{([A-Za-z0-9_]+)\})/g;

/** `$1`, `${1}`, `$name`, `${name}`, and `$$` for the sign; what is not there is empty. */
const expanded = (
  replacement: string,
  { start, end, groups }: Match,
  value: string,
  { names }: Search,
): string =>
  replacement.replace(reference, (_, bare?: string, braced?: string) => {
    const name = bare ?? braced;
    if (name === undefined) return '$';
    if (name === '0') return value.slice(start, end);
    const group = groups[/^[0-9]+$/.test(name) ? Number(name) - 1 : names.indexOf(name)];
    return group === undefined ? '' : value.slice(group.start, group.end);
  });
