import type { CommandEntry } from './command-entry.ts';
import { commands } from './commands.generated.ts';
import { type CommandDefinition, globalOptions, type OptionDefinition } from './definition.ts';
import { groups } from './groups.ts';

/**
 * Turns long options with one dash (`-json`, `-check-index=7`) into options with two dashes, if they have
 * two letters or more. Words after `--` stay unchanged.
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
 * The normalized words of a command whose last argument takes all remaining words. The remaining words are
 * the given ones, after `--`.
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
  /** The command that the words name, if any. */
  readonly entry: CommandEntry | undefined;
  /** The group of commands that the words name: `acl token`. */
  readonly group: string | undefined;
  /** The words that are neither options nor values of options, with their positions. */
  readonly plain: readonly { readonly word: string; readonly position: number }[];
}

/** Finds the command in normalized words. Global options may come before it. */
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
