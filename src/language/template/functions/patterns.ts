import { expanded, matchesIn } from '../../filter/regex/matches.ts';
import { PatternError } from '../../filter/regex/pattern.ts';
import { compileSearch, type Search } from '../../filter/regex/search.ts';
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
      for (const match of matchesIn(search, value, counted(budget))) {
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
