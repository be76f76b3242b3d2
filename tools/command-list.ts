/**
 * Writes src/cli/commands.generated.ts, the list of commands: `npm run docs`. A command is any export below src/cli
 * with words and a summary, or the commands of a noun, which are an object of these.
 */
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from '../src/cli/definition.ts';
import { groups, helpOrder } from '../src/cli/groups.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Where the list is, below the checkout. */
export const page = 'src/cli/commands.generated.ts';

/** A command, and where it stands. */
export interface Found {
  readonly command: Pick<Command, 'words' | 'summary'>;
  /** Below `src/cli`: `./job/scale.ts`. */
  readonly file: string;
  /** `jobScale`, or `roles.create!` */
  readonly name: string;
}

/** The text of the list. */
export async function commandList(): Promise<string> {
  const found: Found[] = [];
  const files = globSync('src/cli/**/*.ts', { cwd: root })
    .filter((path) => path !== page && !/\.(test|test-helper)\.ts$/.test(path))
    .toSorted();
  for (const path of files) {
    const file = path.replace('src/cli/', './');
    found.push(...commandsIn(file, await import(join(root, path))));
  }
  return listText(found);
}

/** The commands among the exports of a file. */
export const commandsIn = (file: string, exports: object): readonly Found[] =>
  Object.entries(exports).flatMap(([name, value]) => {
    if (isCommand(value)) return [{ command: value, file, name }];
    if (!isNoun(value)) return [];
    return Object.entries(value).map(([verb, command]) => {
      return { command, file, name: `${name}.${verb}!` };
    });
  });

const isCommand = (value: unknown): value is Command =>
  typeof value === 'object' &&
  value !== null &&
  'words' in value &&
  'summary' in value &&
  ('run' in value || 'runLocally' in value);

const isNoun = (value: unknown): value is Readonly<Record<string, Command>> => {
  if (typeof value !== 'object' || value === null) return false;
  const values = Object.values(value);
  return values.length > 0 && values.every(isCommand);
};

/**
 * The list in the order of the help.
 *
 * @throws Error if two commands have the same words, or if a group has no description
 */
export function listText(found: readonly Found[]): string {
  const files = new Map<string, string>();
  const alone = new Set(found.map(({ command }) => command.words.join(' ')));
  for (const { command, file } of found) {
    const words = command.words.join(' ');
    const other = files.get(words);
    if (other !== undefined) throw new Error(`"${words}" is a command in ${other} and in ${file}`);
    files.set(words, file);
    for (let count = 1; count < command.words.length; count++) {
      const group = command.words.slice(0, count).join(' ');
      if (groups[group] === undefined && !alone.has(group)) {
        throw new Error(`the group "${group}" needs a description in src/cli/groups.ts`);
      }
    }
  }
  return `${head}${found.toSorted(inHelpOrder).map(entryText).join('')}];\n`;
}

const head = `/**
 * The commands, in the order of the help. \`npm run docs\` writes this file from the commands themselves: their
 * words, their summaries and their places. Nothing here loads a command before it is used.
 */
import type { CommandEntry } from './command-entry.ts';

export const commands: readonly CommandEntry[] = [
`;

function inHelpOrder({ command: left }: Found, { command: right }: Found): number {
  const byGroup = groupAt(left.words) - groupAt(right.words);
  if (byGroup !== 0) return byGroup;
  return left.words.join(' ') < right.words.join(' ') ? -1 : 1;
}

/** First words that are not in the order come last. */
function groupAt([first]: readonly string[]): number {
  const at = helpOrder.indexOf(first!);
  return at < 0 ? helpOrder.length : at;
}

const entryText = ({ command, file, name }: Found): string => `  {
    words: [${command.words.map(quoted).join(', ')}],
    ${folded('summary:', quoted(command.summary))},
    ${folded('load: async () =>', `(await import('${file}')).${name}`)},
  },
`;

const widthMax = 100;

/** On a line of its own where the formatter wants that. */
const folded = (before: string, value: string): string =>
  `    ${before} ${value},`.length > widthMax ? `${before}\n      ${value}` : `${before} ${value}`;

const quoted = (text: string): string =>
  text.includes("'") ? JSON.stringify(text) : `'${text.replaceAll('\\', '\\\\')}'`;

if (import.meta.main) {
  writeFileSync(join(root, page), await commandList());
  console.log(`wrote ${page}`);
}
