import type { Match, Search } from './search.ts';

/**
 * Matches from left to right, without overlaps. An empty match does not touch the match before it. `count`
 * is called with the steps of the automaton.
 */
export function* matchesIn(
  search: Search,
  value: string,
  count: (steps: number) => void,
): Iterable<Match> {
  let at = 0;
  let previousEnd = -1;
  while (at <= value.length) {
    const match = search.next(value, at, count);
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

/** Replaces `$1`, `${1}`, `$name` and `${name}` by groups, and `$$` by the sign. A missing group is empty. */
export const expanded = (
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
