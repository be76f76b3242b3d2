/**
 * The escape sequences of terminals in logs. Colours and weights become parts with classes; every other sequence is
 * taken out, since a log is not a terminal that it may steer.
 */
export interface StyledPart {
  readonly text: string;
  /** Names of classes of `LogView.svelte`. */
  readonly look: string;
}

const sequence = new RegExp(
  [
    // Colours, and what moves the cursor.
    '\u001b\\[([0-9;:]*)[ -/]*([@-~])',
    // Titles of windows, and links.
    '\u001b\\][^\u0007\u001b]*(?:\u0007|\u001b\\\\)?',
    '\u001b(?:[()#][0-9A-Z]|[=>78A-Z])',
  ].join('|'),
  'g',
);

export const hasEscapes = (text: string): boolean => text.includes('\u001b');

/** The text as a reader and a search see it. */
export const withoutEscapes = (text: string): string =>
  hasEscapes(text) ? text.replace(sequence, '') : text;

export function styledParts(text: string): readonly StyledPart[] {
  if (!hasEscapes(text)) return [{ text, look: '' }];
  const parts: StyledPart[] = [];
  let looks: ReadonlyMap<string, string> = new Map();
  let from = 0;
  const add = (end: number): void => {
    if (end > from)
      parts.push({ text: text.slice(from, end), look: [...looks.values()].join(' ') });
  };
  for (const match of text.matchAll(sequence)) {
    add(match.index);
    from = match.index + match[0].length;
    if (match[2] === 'm') looks = changed(looks, match[1] ?? '');
  }
  add(text.length);
  return parts;
}

const weights: Readonly<Record<number, string>> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
};

const colors = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

/** After codes of one sequence, such as `1;31`. Grounds are left out: they would make words hard to read. */
function changed(before: ReadonlyMap<string, string>, codes: string): ReadonlyMap<string, string> {
  const looks = new Map(before);
  const numbers = codes.split(/[;:]/).map(Number);
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at]!;
    const color = colors[(code % 10) as 0];
    if (code === 0) looks.clear();
    else if (code === 38 || code === 48) at += numbers[at + 1] === 5 ? 2 : 4;
    else if (code === 22) for (const weight of ['1', '2']) looks.delete(weight);
    else if (code === 23 || code === 24) looks.delete(String(code - 20));
    else if (code === 39) looks.delete('color');
    else if (weights[code] !== undefined) looks.set(String(code), weights[code]);
    else if (color !== undefined && isForeground(code)) looks.set('color', color);
  }
  return looks;
}

const isForeground = (code: number): boolean =>
  (code >= 30 && code < 38) || (code >= 90 && code < 98);
