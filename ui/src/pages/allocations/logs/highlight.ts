import { type StyledPart, styledParts } from './ansi.ts';
import { matcherOf } from './log-search.ts';

export interface ShownPart extends StyledPart {
  readonly isMatch: boolean;
}

/** The parts of a line, with what was searched marked, also where a match crosses colours. */
export function shownParts(raw: string, plain: string, search: string): readonly ShownPart[] {
  const matches = search === '' ? [] : matchesOf(plain, search);
  const parts: ShownPart[] = [];
  let at = 0;
  for (const { text, look } of styledParts(raw)) {
    for (let from = 0; from < text.length; ) {
      const place = at + from;
      const match = matches.find(([begin, end]) => begin <= place && place < end);
      const next = match?.[1] ?? matches.find(([begin]) => begin > place)?.[0] ?? Infinity;
      const end = Math.min(text.length, next - at);
      parts.push({ text: text.slice(from, end), look, isMatch: match !== undefined });
      from = end;
    }
    at += text.length;
  }
  return parts;
}

/** Not in limits: more matches of one line are found and not marked. */
const markedMax = 100;

function matchesOf(plain: string, search: string): readonly (readonly [number, number])[] {
  const finds = matcherOf(search);
  const matches: [number, number][] = [];
  for (let from = 0; matches.length < markedMax; ) {
    const found = finds(plain.slice(from));
    if (found < 0) break;
    matches.push([from + found, from + found + search.length]);
    from += found + search.length;
  }
  return matches;
}
