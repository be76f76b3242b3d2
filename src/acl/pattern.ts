/** Names as a rule's label means them. No label at all is the empty prefix: every name. */
export interface Pattern {
  readonly kind: 'exact' | 'prefix' | 'glob';
  readonly text: string;
}

export const everything: Pattern = { kind: 'prefix', text: '' };

export const exactly = (text: string): Pattern => ({ kind: 'exact', text });

/** A glob with its only star at the end is a prefix, and one without a star is a name. */
export function patternOf({ match, name }: { match: Pattern['kind'] | 'all'; name: string }) {
  if (match === 'all') return everything;
  if (match !== 'glob') return { kind: match, text: name };
  const star = name.indexOf('*');
  if (star < 0) return exactly(name);
  if (/^\*+$/.test(name.slice(star))) return { kind: 'prefix', text: name.slice(0, star) } as const;
  return { kind: 'glob', text: name } as const;
}

/** Rules with the same label mean the same names, so they count as one. */
export const labelOf = ({ kind, text }: Pattern): string => `${kind} ${text}`;

/**
 * How near a pattern is to a name it fits, -1 when it does not: an exact one is nearest, and of the
 * others the one with the fewest characters left over (so the longest prefix).
 */
export function nearness({ kind, text }: Pattern, name: string): number {
  if (kind === 'exact') return text === name ? Number.POSITIVE_INFINITY : -1;
  if (kind === 'prefix') return name.startsWith(text) ? text.length : -1;
  return globMatches(text, name) ? text.replaceAll('*', '').length : -1;
}

/**
 * Whether a glob (`*` is any run of characters) fits the whole name. Takes the first place where
 * each piece fits, which is right because a later piece only gains from an earlier place.
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
