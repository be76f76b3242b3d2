/**
 * The space at the ends of a line: Unicode's White_Space, as in the reference implementation. JavaScript's
 * `trim` also removes the byte order mark, and leaves U+0085.
 */
const space = '[\\t-\\r \\u0085\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000]';
const atStart = new RegExp(`${space}*`, 'y');
const one = new RegExp(space);

/** The number of characters of space at the beginning of the text. */
export function spaceBefore(text: string): number {
  atStart.lastIndex = 0;
  return atStart.exec(text)![0].length;
}

export const trimStart = (text: string): string => text.slice(spaceBefore(text));

export function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && one.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}
