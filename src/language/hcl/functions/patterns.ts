import { matchesIn } from '../../filter/regex/matches.ts';
import type { Match, Search } from '../../filter/regex/search.ts';
import { FunctionFault } from '../../functions/fault.ts';
import { automatonSteps, compilePattern, matchesReplaced } from '../../functions/patterns.ts';
import { objectOf, type Value } from '../value.ts';
import { define, type Functions, text } from './define.ts';

export const patternFunctions: Functions = {
  regex: define([text('pattern'), text('string')], ([pattern, value], budget) => {
    const search = compilePattern(pattern, budget);
    const match = search.next(value, 0, automatonSteps(budget));
    if (match !== undefined) return budget.made(captured(match, value, search));
    throw new FunctionFault('the pattern does not match; regexall finds any number of matches', 1);
  }),
  regexall: define([text('pattern'), text('string')], ([pattern, value], budget) => {
    const search = compilePattern(pattern, budget);
    const found: Value[] = [];
    for (const match of matchesIn(search, value, automatonSteps(budget))) {
      budget.make(8);
      found.push(budget.made(captured(match, value, search)));
    }
    return budget.made(found);
  }),
  regex_replace: define(
    [text('string'), text('pattern'), text('replacement')],
    ([value, pattern, replacement], budget) =>
      matchesReplaced(value, compilePattern(pattern, budget), replacement, budget),
  ),
};

/** The whole match; if the pattern has groups, their texts, by name if they have names. */
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
