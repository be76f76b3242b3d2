import { readClass, readEscapedSet } from './classes.ts';
import { hexadecimal, type Reader, readCharacter, take } from './reader.ts';
import { type Assertion, PatternError, type PatternNode } from './syntax.ts';

/**
 * The RE2 dialect. Refused, with their names: backreferences, lookaround, atomic groups, and flags
 * in the middle of a group.
 */
export interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly U: boolean;
}

export const patternLimits = { length: 1024, depth: 50, repeat: 1000 } as const;

/** @param names takes the name of each group in order, or `undefined` for a group without a name */
export function parsePattern(pattern: string, names: (string | undefined)[] = []): PatternNode {
  if (pattern.length > patternLimits.length) {
    throw new PatternError(`it is longer than ${patternLimits.length} characters`);
  }
  const reader: Reader = { pattern, at: 0, depth: 0, names };
  const node = choice(reader, { i: false, m: false, s: false, U: false });
  if (reader.at < pattern.length) throw new PatternError('a ")" closes no group');
  return node;
}

function choice(reader: Reader, given: Flags): PatternNode {
  const flags = leadingFlags(reader, given);
  const parts = [sequence(reader, flags)];
  while (take(reader, '|')) parts.push(sequence(reader, flags));
  return parts.length === 1 ? parts[0]! : { kind: 'choice', parts };
}

const flagGroup = /\(\?([imsU]*)(?:-([imsU]+))?([:)])/y;

/** `(?i)` at the start of a pattern or group applies to all of it. */
function leadingFlags(reader: Reader, flags: Flags): Flags {
  flagGroup.lastIndex = reader.at;
  const found = flagGroup.exec(reader.pattern);
  if (found?.[3] !== ')') return flags;
  reader.at += found[0].length;
  return leadingFlags(reader, withFlags(flags, found));
}

function withFlags(flags: Flags, found: RegExpExecArray): Flags {
  const set = (name: keyof Flags): boolean =>
    !found[2]?.includes(name) && (flags[name] || found[1]!.includes(name));
  return { i: set('i'), m: set('m'), s: set('s'), U: set('U') };
}

function sequence(reader: Reader, flags: Flags): PatternNode {
  const parts: PatternNode[] = [];
  while (reader.at < reader.pattern.length && !/[|)]/.test(reader.pattern[reader.at]!)) {
    if (reader.pattern.startsWith('\\Q', reader.at)) {
      parts.push(...quoted(reader, flags));
    } else {
      parts.push(atom(reader, flags));
    }
    const repeat = readRepeat(reader, flags);
    if (!repeat) continue;
    const part = parts.pop();
    if (part === undefined) throw new PatternError('there is nothing to repeat');
    parts.push({ kind: 'repeat', part, ...repeat });
    if (readRepeat(reader, flags)) throw new PatternError('a repetition is repeated; use a group');
  }
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
}

const repetition = /(?:([*+?])|\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\})(\??)/y;

function readRepeat(
  reader: Reader,
  flags: Flags,
): { least: number; most: number; lazy: boolean } | undefined {
  repetition.lastIndex = reader.at;
  const found = repetition.exec(reader.pattern);
  if (!found) return undefined;
  reader.at += found[0].length;
  const lazy = (found[5] === '?') !== flags.U;
  if (found[1] !== undefined) {
    return { least: found[1] === '+' ? 1 : 0, most: found[1] === '?' ? 1 : Infinity, lazy };
  }
  const least = Number(found[2]);
  const most =
    found[3] === undefined ? least : found[4] === undefined ? Infinity : Number(found[4]);
  const greatest = most === Infinity ? least : most;
  if (least > most) throw new PatternError(`the repetition ${found[0]} has its bounds reversed`);
  if (greatest > patternLimits.repeat) {
    throw new PatternError(`the repetition ${found[0]} is over ${patternLimits.repeat}`);
  }
  return { least, most, lazy };
}

function atom(reader: Reader, flags: Flags): PatternNode {
  const character = readCharacter(reader);
  switch (character) {
    case '(':
      return group(reader, flags);
    case '[':
      return set(readClass(reader), flags);
    case '.':
      return set(flags.s ? '[\\s\\S]' : '[^\\n]', flags);
    case '^':
      return assert(flags.m ? 'lineStart' : 'textStart');
    case '$':
      return assert(flags.m ? 'lineEnd' : 'textEnd');
    case '*':
    case '+':
    case '?':
      throw new PatternError(`there is nothing to repeat before "${character}"`);
    case '\\':
      return escaped(reader, flags);
    default:
      return literal(character, flags);
  }
}

const refusedGroups: readonly (readonly [start: string, sentence: string])[] = [
  ['?=', 'lookahead (?=…) is not supported'],
  ['?!', 'lookahead (?!…) is not supported'],
  ['?<=', 'lookbehind (?<=…) is not supported'],
  ['?<!', 'lookbehind (?<!…) is not supported'],
  ['?>', 'atomic groups (?>…) are not supported'],
  ['?P=', 'backreferences (?P=…) are not supported'],
];
const groupName = /\?P?<([A-Za-z_][A-Za-z0-9_]*)>/y;

function group(reader: Reader, flags: Flags): PatternNode {
  const start = reader.at - 1;
  if (++reader.depth > patternLimits.depth) {
    throw new PatternError(`its groups are nested more than ${patternLimits.depth} deep`);
  }
  let inner = flags;
  let index: number | undefined;
  if (reader.pattern[reader.at] === '?') {
    flagGroup.lastIndex = start;
    const found = flagGroup.exec(reader.pattern);
    if (found?.[3] === ')') {
      throw new PatternError(`put ${found[0]} at the start of the pattern or of a group`);
    }
    if (found) {
      inner = withFlags(flags, found);
      reader.at = start + found[0].length;
    } else {
      index = reader.names.push(readGroupName(reader)) - 1;
    }
  } else {
    index = reader.names.push(undefined) - 1;
  }
  const node = choice(reader, inner);
  if (!take(reader, ')')) throw new PatternError('a "(" is not closed');
  reader.depth--;
  return index === undefined ? node : { kind: 'capture', index, part: node };
}

function readGroupName(reader: Reader): string {
  for (const [start, sentence] of refusedGroups) {
    if (reader.pattern.startsWith(start, reader.at)) throw new PatternError(sentence);
  }
  groupName.lastIndex = reader.at;
  const found = groupName.exec(reader.pattern);
  if (!found) throw new PatternError('a group has unknown flags after "(?"');
  reader.at += found[0].length;
  return found[1]!;
}

const assertions: Readonly<Record<string, Assertion>> = {
  A: 'textStart',
  z: 'textEnd',
  b: 'word',
  B: 'notWord',
};

function escaped(reader: Reader, flags: Flags): PatternNode {
  const assertion = assertions[reader.pattern[reader.at] ?? ''];
  if (assertion === undefined) return set(`[${readEscapedSet(reader)}]`, flags);
  reader.at++;
  return assert(assertion);
}

/** `\Q…\E`: the text between is literal; without `\E`, up to the end. */
function quoted(reader: Reader, flags: Flags): PatternNode[] {
  const from = reader.at + 2;
  const close = reader.pattern.indexOf('\\E', from);
  const to = close < 0 ? reader.pattern.length : close;
  reader.at = close < 0 ? to : close + 2;
  return [...reader.pattern.slice(from, to)].map((character) => literal(character, flags));
}

const literal = (character: string, flags: Flags): PatternNode =>
  set(`[${hexadecimal(character)}]`, flags);

const set = (source: string, flags: Flags): PatternNode => ({
  kind: 'set',
  source,
  ignoreCase: flags.i,
});

const assert = (assertion: Assertion): PatternNode => ({ kind: 'assert', assertion });
