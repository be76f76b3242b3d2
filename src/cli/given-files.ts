import { type CommandDefinition, everyOption } from './definition.ts';
import type { CliEnvironment } from './environment.ts';
import { CliError } from './errors.ts';
import { camelCase, type Options } from './options.ts';
import type { Parsed } from './program.ts';
import { readText } from './text-file.ts';

/**
 * The words and options with their files: `@FILE` in place of FILE, and the texts of options that `@FILE` or `-` give.
 * A file whose name begins with `@` is written as `./@name`.
 * @throws CliError if a file cannot be read, or if standard input is needed twice
 */
export async function withFiles(
  definition: CommandDefinition,
  { words, options }: Parsed,
  environment: CliEnvironment,
): Promise<Parsed> {
  const list = definition.arguments ?? [];
  const every = everyOption(definition);
  const files = every.filter(({ completes }) => completes === 'file').map(({ name }) => name);
  const texts = every.filter(({ isLongText }) => isLongText).map(({ name }) => name);
  // The last argument may take several files.
  const isFileAt = (at: number) => {
    const last = list.at(-1);
    return (list[at] ?? (last?.isSeveral ? last : undefined))?.kind === 'file';
  };
  const placed = words.map((word, at) => (isFileAt(at) ? fileNamed(word) : word));
  const fromInput = [
    ...words.filter((word, at) => word === '-' && isFileAt(at)),
    ...[...files, ...texts].filter((name) => valuesOf(options, name).includes('-')),
  ];
  if (fromInput.length > 1) throw new CliError('Standard input can give only one of the files.');
  const read = new Map<string, string>();
  for (const name of texts) {
    const given = options.text(camelCase(name));
    if (given === undefined || !(given === '-' || /^@./.test(given))) continue;
    const text = await readText({ environment }, fileNamed(given), `text of --${name}`);
    read.set(camelCase(name), text.replace(/\n$/, ''));
  }
  const isFile = new Set(files.map(camelCase));
  return {
    words: placed,
    options: {
      flag: options.flag,
      text(name) {
        const text = read.get(name) ?? options.text(name);
        return isFile.has(name) && text !== undefined ? fileNamed(text) : text;
      },
      list: (name) => (isFile.has(name) ? options.list(name).map(fileNamed) : options.list(name)),
    },
  };
}

const fileNamed = (given: string): string => given.replace(/^@(?=.)/, '');

const valuesOf = (options: Options, name: string): readonly (string | undefined)[] => [
  options.text(camelCase(name)),
  ...options.list(camelCase(name)),
];
