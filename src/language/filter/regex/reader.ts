import { PatternError } from './syntax.ts';

/** The position of the parser. Mutable: `at` moves on. */
export interface Reader {
  readonly pattern: string;
  at: number;
  depth: number;
  /** Names of the groups so far; `undefined` for a group without a name. */
  readonly names: (string | undefined)[];
}

/** A hexadecimal escape has the same meaning everywhere in an ECMAScript class. */
export const hexadecimal = (character: string): string =>
  `\\u{${character.codePointAt(0)!.toString(16)}}`;

/** Takes the code point at the position. */
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
