import type { CommandEntry } from './command-entry.ts';
import { commands } from './commands.generated.ts';
import {
  type CommandDefinition,
  everyOption,
  globalOptions,
  type OptionDefinition,
} from './definition.ts';
import { groups } from './groups.ts';

/** Options of other control planes, and what they mean here. No command has an option of such a name. */
export const optionWords: Readonly<Record<string, string>> = {
  'policy-name': 'policy',
  'policy-id': 'policy',
  'role-name': 'role',
  'role-id': 'role',
  'expires-ttl': 'ttl',
  'http-addr': 'address',
  'ca-file': 'ca-cert',
};

/**
 * Turns long options with one dash (`-json`, `-check-index=7`) into options with two dashes, if they have
 * two letters or more, and `-t=X` into `-tX`. Words after `--` stay unchanged.
 */
export function normalizeWords(given: readonly string[]): string[] {
  const words = withoutFormat(given);
  const end = words.indexOf('--');
  const fixed = end < 0 ? [] : words.slice(end);
  return [
    ...words.slice(0, end < 0 ? undefined : end).map((word) => {
      const [, name, value = ''] = /^--?([a-z][a-z-]+)(=.*)?$/is.exec(word) ?? [];
      if (name === undefined) return word.replace(/^(-[a-z])=(?=.)/i, '$1');
      return `--${Object.hasOwn(optionWords, name) ? optionWords[name] : name}${value}`;
    }),
    ...fixed,
  ];
}

/** Another way to ask for JSON, `-format json`, becomes `-json`. The one command with forms of its own keeps it. */
function withoutFormat(words: readonly string[]): readonly string[] {
  const named = words.findIndex((word) => /^--?format(=json)?$/.test(word));
  const end = words.indexOf('--');
  const isLater = end >= 0 && named > end;
  const hasForms = words.some((word, at) => word === 'metrics' && words[at - 1] === 'operator');
  if (named < 0 || isLater || hasForms) return words;
  const length = words[named]!.endsWith('=json') ? 1 : 2;
  if (length === 2 && words[named + 1] !== 'json') return words;
  return [...words.slice(0, named), '--json', ...words.slice(named + length)];
}

/**
 * The normalized words of a command whose last argument takes all remaining words. The remaining words are
 * the given ones, after `--`.
 */
export function withRest(
  given: readonly string[],
  normalized: readonly string[],
  command: readonly string[],
  definition: CommandDefinition,
): readonly string[] {
  const at = (definition.arguments ?? []).findIndex(({ isRest }) => isRest);
  if (at < 0 || given[0] === 'help') {
    return normalized;
  }
  const plain = plainWords(normalized, everyOption(definition));
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
  const entry = commands
    .filter((candidate) => candidate.words.every((word, index) => given[index] === word))
    .filter((candidate) => !isValueInside(candidate, plain))
    .sort((left, right) => right.words.length - left.words.length)[0];
  return { entry, group, plain };
}

/**
 * Whether a word of a command below another command may be a value of the other one's options: `reload` in
 * `agent --config reload`.
 */
const isValueInside = ({ words }: CommandEntry, plain: Located['plain']): boolean =>
  commands.some(({ words: above }) => above.length < words.length && isBelow(words, above)) &&
  words.some((_, index) => plain[index]!.position !== plain[0]!.position + index);

const isBelow = (words: readonly string[], above: readonly string[]): boolean =>
  above.every((word, index) => words[index] === word);

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
