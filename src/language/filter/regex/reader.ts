import { PatternError } from './syntax.ts';

/** Where the parser is. Mutable: `at` moves on. */
export interface Reader {
  readonly pattern: string;
  at: number;
  depth: number;
  /** Of the groups so far; `undefined` for one without a name. */
  readonly names: (string | undefined)[];
}

/** A hexadecimal escape means the same in every place of an ECMAScript class. */
export const hexadecimal = (character: string): string =>
  `\\u{${character.codePointAt(0)!.toString(16)}}`;

/** The code point here, which the reader passes. */
export function readCharacter(reader: Reader): string {
  const point = reader.pattern.codePointAt(reader.at);
  if (point === undefined) throw new PatternError('it ends too early');
  const character = String.fromCodePoint(point);
  reader.at += character.length;
  return character;
}

export function take(reader: Reader, text: string): boolean {
  if (!reader.pattern.startsWith(text, reader.at)) return false;
  reader.at += text.length;
  return true;
}
