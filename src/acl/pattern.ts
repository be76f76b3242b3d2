/**
 * The names that a rule's label covers. A rule without a label has the empty prefix, which covers
 * all.
 */
export interface Pattern {
  readonly kind: 'exact' | 'prefix' | 'glob';
  readonly text: string;
}

export const everything: Pattern = { kind: 'prefix', text: '' };

export const exactly = (text: string): Pattern => ({ kind: 'exact', text });

/** A glob whose only star is at the end is a prefix; a glob without a star is an exact name. */
export function patternOf({ match, name }: { match: Pattern['kind'] | 'all'; name: string }) {
  if (match === 'all') return everything;
  if (match !== 'glob') return { kind: match, text: name };
  const star = name.indexOf('*');
  if (star < 0) return exactly(name);
  if (/^\*+$/.test(name.slice(star))) return { kind: 'prefix', text: name.slice(0, star) } as const;
  return { kind: 'glob', text: name } as const;
}

/** Rules with the same label cover the same names. */
export const labelOf = ({ kind, text }: Pattern): string => `${kind} ${text}`;

/**
 * The nearness of a pattern to a name, -1 if it does not match. An exact pattern is nearest; among
 * the others, the pattern with the most literal characters is.
 */
export function nearness({ kind, text }: Pattern, name: string): number {
  if (kind === 'exact') return text === name ? Number.POSITIVE_INFINITY : -1;
  if (kind === 'prefix') return name.startsWith(text) ? text.length : -1;
  return globMatches(text, name) ? text.replaceAll('*', '').length : -1;
}

/**
 * Whether a glob (`*` is any run of characters) matches the whole name. Each piece is matched at
 * the first possible place, which leaves the most room for later pieces.
 */
function globMatches(glob: string, name: string): boolean {
  const pieces = glob.split('*');
  const first = pieces[0]!;
  const last = pieces.at(-1)!;
  if (name.length < first.length + last.length) return false;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
