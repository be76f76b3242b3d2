import { expanded, matchesIn } from '../../filter/regex/matches.ts';
import { PatternError } from '../../filter/regex/pattern.ts';
import { compileSearch, type Match, type Search } from '../../filter/regex/search.ts';
import type { Budget } from '../budget.ts';
import { FunctionFault } from '../scope.ts';
import { objectOf, type Value } from '../value.ts';
import { define, type Functions, text } from './define.ts';

export const patternFunctions: Functions = {
  regex: define([text('pattern'), text('string')], ([pattern, value], budget) => {
    const search = compile(pattern, budget);
    const match = search.next(value, 0, counted(budget));
    if (match !== undefined) return budget.made(captured(match, value, search));
    throw new FunctionFault('the pattern does not match; regexall finds any number of matches', 1);
  }),
  regexall: define([text('pattern'), text('string')], ([pattern, value], budget) => {
    const search = compile(pattern, budget);
    const found: Value[] = [];
    for (const match of matchesIn(search, value, counted(budget))) {
      budget.make(8);
      found.push(budget.made(captured(match, value, search)));
    }
    return budget.made(found);
  }),
  regex_replace: define(
    [text('string'), text('pattern'), text('replacement')],
    ([value, pattern, replacement], budget) => {
      const search = compile(pattern, budget);
      let result = '';
      let at = 0;
      const add = (piece: string): void => {
        budget.make(piece.length);
        result += piece;
      };
      for (const match of matchesIn(search, value, counted(budget))) {
        budget.make(8);
        add(value.slice(at, match.start));
        add(expanded(replacement, match, value, search));
        at = match.end;
      }
      add(value.slice(at));
      return result;
    },
  ),
};

function compile(pattern: string, budget: Budget): Search {
  budget.work(pattern.length);
  try {
    const search = compileSearch(pattern);
    budget.work(search.size);
    return search;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new FunctionFault(`the pattern cannot be used: ${error.message}`);
  }
}

/** A step of the automaton is far smaller than one of an evaluation. */
const counted = (budget: Budget) => (steps: number) => budget.work(steps >> 2);

/** The whole match; with groups, what they hold, by name when they have names. */
function captured({ start, end, groups }: Match, value: string, { names }: Search): Value {
  if (groups.length === 0) return value.slice(start, end);
  const held = groups.map((group) =>
    group === undefined ? null : value.slice(group.start, group.end),
  );
  const named = names.filter((name) => name !== undefined);
  if (named.length === 0) return held;
  if (named.length < names.length) {
    throw new FunctionFault('either all groups of the pattern have names, or none', 0);
  }
  return objectOf(held.map((text, index) => [names[index]!, text]));
}
