import { expanded, matchesIn } from '../filter/regex/matches.ts';
import { PatternError } from '../filter/regex/pattern.ts';
import { compileSearch, type Search } from '../filter/regex/search.ts';
import { FunctionFault, type Meter } from './fault.ts';

/**
 * A pattern of RE2, whose time is linear in the text. `argument`: its index in the call.
 * @throws FunctionFault
 */
export function compilePattern(pattern: string, meter: Meter, argument?: number): Search {
  meter.work(pattern.length);
  try {
    const search = compileSearch(pattern);
    meter.work(search.size);
    return search;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new FunctionFault(`the pattern cannot be used: ${error.message}`, argument);
  }
}

/** Counts steps of the automaton, which are far smaller than steps of an evaluation. */
export const automatonSteps = (meter: Meter) => (steps: number) => meter.work(1 + (steps >> 2));

/** The text with all matches replaced. `$1` and `${name}` in the replacement stand for groups. */
export function matchesReplaced(
  value: string,
  search: Search,
  replacement: string,
  meter: Meter,
): string {
  let result = '';
  let at = 0;
  const add = (piece: string): void => {
    meter.make(piece.length);
    result += piece;
  };
  for (const match of matchesIn(search, value, automatonSteps(meter))) {
    meter.work(1 + (replacement.length >> 3));
    add(value.slice(at, match.start));
    add(expanded(replacement, match, value, search));
    at = match.end;
  }
  add(value.slice(at));
  return result;
}
