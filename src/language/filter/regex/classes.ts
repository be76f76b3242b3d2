import { hexadecimal, type Reader, readCharacter, take } from './reader.ts';
import { PatternError } from './syntax.ts';

/** RE2's sets of characters, as contents of an ECMAScript class under the `v` flag. */
const perl: Readonly<Record<string, string>> = {
  d: '0-9',
  w: '0-9A-Za-z_',
  s: '\\t\\n\\f\\r\\x20',
};

const posix: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t\\x20',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '\\x21-\\x7e',
  lower: 'a-z',
  print: '\\x20-\\x7e',
  punct: '\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e',
  space: '\\t-\\r\\x20',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/** Reads a class after its `[`. Returns a whole ECMAScript class. */
export function readClass(reader: Reader): string {
  const negated = take(reader, '^');
  let items = '';
  // A `]` at the beginning is a member.
  for (let first = true; first || reader.pattern[reader.at] !== ']'; first = false) {
    if (reader.at >= reader.pattern.length) throw new PatternError('a "[" is not closed');
    items += readItem(reader);
  }
  reader.at++;
  return `[${negated ? '^' : ''}${items}]`;
}

const posixName = /\[:(\^?)([a-z]*):\]/y;

function readItem(reader: Reader): string {
  posixName.lastIndex = reader.at;
  const found = posixName.exec(reader.pattern);
  if (found) {
    const members = posix[found[2]!];
    if (members === undefined) throw new PatternError(`there is no class ${found[0]}`);
    reader.at += found[0].length;
    return complement(members, found[1] === '^');
  }
  const from = readMember(reader);
  const { pattern, at } = reader;
  if (pattern[at] !== '-' || pattern[at + 1] === ']' || at + 1 >= pattern.length)
    return from.source;
  reader.at++;
  const to = readMember(reader);
  if (from.character === undefined || to.character === undefined) {
    throw new PatternError('a range in a class ends in a set');
  }
  if (from.character.codePointAt(0)! > to.character.codePointAt(0)!) {
    throw new PatternError('a range in a class has its bounds reversed');
  }
  return `${from.source}-${to.source}`;
}

interface Member {
  readonly source: string;
  /** `undefined` for a set such as `\d`. */
  readonly character: string | undefined;
}

function readMember(reader: Reader): Member {
  const character = readCharacter(reader);
  if (character !== '\\') return one(character);
  return readEscape(reader);
}

/** Reads an escape after its backslash. Returns class contents. */
export const readEscapedSet = (reader: Reader): string => readEscape(reader).source;

function readEscape(reader: Reader): Member {
  if (reader.at >= reader.pattern.length) throw new PatternError('it ends in a backslash');
  const code = readCode(reader);
  if (code !== undefined) return one(code);
  const letter = readCharacter(reader);
  const members = perl[letter.toLowerCase()];
  if (members !== undefined) return many(complement(members, letter !== letter.toLowerCase()));
  if (letter === 'p' || letter === 'P') return many(readProperty(reader, letter === 'P'));
  if (/[1-9]/.test(letter))
    throw new PatternError(`backreferences (\\${letter}) are not supported`);
  if (letter === 'k') throw new PatternError('backreferences (\\k) are not supported');
  if (/[A-Za-z0-9]/.test(letter) || letter.codePointAt(0)! > 0x7f) {
    throw new PatternError(`there is no escape \\${letter}`);
  }
  return one(letter);
}

const control: Readonly<Record<string, string>> = {
  a: '\x07',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const codeForm = /x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]{1,6})\}|(0[0-7]{0,2}|[1-7][0-7]{1,2})/y;

function readCode(reader: Reader): string | undefined {
  const simple = control[reader.pattern[reader.at]!];
  if (simple !== undefined) {
    reader.at++;
    return simple;
  }
  codeForm.lastIndex = reader.at;
  const found = codeForm.exec(reader.pattern);
  if (!found) return undefined;
  reader.at += found[0].length;
  const hex = found[1] ?? found[2];
  const point = hex === undefined ? Number.parseInt(found[3]!, 8) : Number.parseInt(hex, 16);
  if (point > 0x10ffff) throw new PatternError(`there is no character \\${found[0]}`);
  return String.fromCodePoint(point);
}

const propertyForm = /\{(\^?)([A-Za-z_]+)\}|([A-Z])/y;

/** `\pL`, `\p{Lu}`, `\p{Greek}`, `\p{^Greek}`. */
function readProperty(reader: Reader, inverted: boolean): string {
  propertyForm.lastIndex = reader.at;
  const found = propertyForm.exec(reader.pattern);
  if (!found) throw new PatternError('a \\p names no property');
  reader.at += found[0].length;
  const name = found[2] ?? found[3]!;
  const sign = inverted !== (found[1] === '^') ? 'P' : 'p';
  if (name === 'Any') return complement('\\s\\S', sign === 'P');
  for (const source of [`\\${sign}{gc=${name}}`, `\\${sign}{sc=${name}}`]) {
    if (isClass(source)) return source;
  }
  throw new PatternError(`there is no property ${JSON.stringify(name)}`);
}

function isClass(source: string): boolean {
  try {
    new RegExp(`[${source}]`, 'v');
    return true;
  } catch {
    return false;
  }
}

const complement = (members: string, inverted: boolean): string =>
  inverted ? `[^${members}]` : members;

const one = (character: string): Member => ({ source: hexadecimal(character), character });

const many = (source: string): Member => ({ source, character: undefined });
