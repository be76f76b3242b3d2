/**
 * Texts from jobs, tasks, peers and tokens are untrusted. Characters that would change how the words around them look
 * (controls, marks that turn the direction of text, invisible ones) are shown escaped.
 */
export interface TextPart {
  readonly text: string;
  readonly isEscaped: boolean;
}

/** Controls, formats, lone surrogates and the separators of lines; not the tab and the end of a line. */
const unsafe = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

export function textParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(unsafe)) {
    if (match.index > from) parts.push({ text: text.slice(from, match.index), isEscaped: false });
    parts.push({ text: escaped(match[0]), isEscaped: true });
    from = match.index + match[0].length;
  }
  if (from < text.length || parts.length === 0)
    parts.push({ text: text.slice(from), isEscaped: false });
  return parts;
}

/** For titles and other places that take a text alone. */
export const plainText = (text: string): string =>
  textParts(text)
    .map((part) => part.text)
    .join('');

/** JSON that says the same, in which no character of its strings changes how the text looks in a field. */
export const plainJson = (json: string): string =>
  json.replace(unsafe, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );

const escaped = (character: string): string =>
  `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`;
