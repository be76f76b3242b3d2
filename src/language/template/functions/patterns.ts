import { automatonSteps, compilePattern, matchesReplaced } from '../../functions/patterns.ts';
import { define, type Functions, text } from './define.ts';

/** Patterns are RE2 patterns. Their time is linear in the text. */
export const patternFunctions: Functions = {
  regexMatch: define([text('pattern'), text('text')], ([pattern, value], { budget }) => {
    const search = compilePattern(pattern, budget, 0);
    return search.next(value, 0, automatonSteps(budget)) !== undefined;
  }),
  regexReplaceAll: define(
    [text('pattern'), text('replacement'), text('text')],
    ([pattern, replacement, value], { budget }) =>
      matchesReplaced(value, compilePattern(pattern, budget, 0), replacement, budget),
  ),
};
