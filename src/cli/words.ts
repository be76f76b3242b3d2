import type { CommandEntry } from './command-entry.ts';
import { commands, groups } from './commands.ts';
import { type CommandDefinition, globalOptions, type OptionDefinition } from './definition.ts';

/**
 * Long options are understood with one dash, too (`-json`, `-check-index=7`), as long as they have
 * two letters or more. What follows `--` stays as it is.
 */
export function normalizeWords(words: readonly string[]): string[] {
  const end = words.indexOf('--');
  const fixed = end < 0 ? [] : words.slice(end);
  return [
    ...words
      .slice(0, end < 0 ? undefined : end)
      .map((word) => (/^-[a-z][a-z-]+(=.*)?$/is.test(word) ? `-${word}` : word)),
    ...fixed,
  ];
}

/**
 * Normalized words of a command whose last argument takes all the rest: those of the rest are as
 * they were given, and behind `--`.
 */
export function withRest(
  given: readonly string[],
  normalized: readonly string[],
  command: readonly string[],
  { arguments: list = [], options = [] }: CommandDefinition,
): readonly string[] {
  const at = list.findIndex(({ isRest }) => isRest);
  if (at < 0 || given[0] === 'help') {
    return normalized;
  }
  const plain = plainWords(normalized, [...globalOptions, ...options]);
  const first = plain[command.length + at]?.position;
  if (first === undefined || normalized.slice(0, first).includes('--')) return normalized;
  return [...normalized.slice(0, first), '--', ...given.slice(first)];
}

export interface Located {
  /** The command that the words name, as far as they do. */
  readonly entry: CommandEntry | undefined;
  /** The words that stand before commands, as `groups` has them: `acl token`. */
  readonly group: string | undefined;
  /** The words that are neither an option nor an option's value, with their positions. */
  readonly plain: readonly { readonly word: string; readonly position: number }[];
}

/** Finds the command in normalized words. Options of every command may stand before it. */
export function locate(words: readonly string[]): Located {
  const plain = plainWords(words, globalOptions);
  const given = plain.map(({ word }) => word);
  const group = Object.keys(groups)
    .filter((name) => name.split(' ').every((word, index) => given[index] === word))
    .sort((left, right) => right.length - left.length)[0];
  const entry = commands.find((candidate) =>
    candidate.words.every((word, index) => given[index] === word),
  );
  return { entry, group, plain };
}

export function plainWords(
  words: readonly string[],
  options: readonly OptionDefinition[],
): { word: string; position: number }[] {
  const plain: { word: string; position: number }[] = [];
  for (let position = 0; position < words.length; position++) {
    const word = words[position]!;
    if (word === '--') {
      const rest = words.slice(position + 1);
      plain.push(...rest.map((text, offset) => ({ word: text, position: position + 1 + offset })));
      break;
    }
    if (!word.startsWith('-') || word === '-') plain.push({ word, position });
    else if (takesNext(word, options)) position++;
  }
  return plain;
}

/** Whether the word is an option whose value is the next word. */
export function takesNext(word: string, options: readonly OptionDefinition[]): boolean {
  return options.some(
    ({ name, letter, value }) =>
      value !== undefined && (word === `--${name}` || (letter && word === `-${letter}`)),
  );
}
