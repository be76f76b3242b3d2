/**
 * Writes docs/reference/commands.md, the list of commands and their other words, from the commands themselves:
 * `node tools/run.mjs tools/command-reference.ts`.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { aliases } from '../src/cli/aliases.ts';
import { commands } from '../src/cli/commands.generated.ts';
import { type Command, globalOptions, type OptionDefinition } from '../src/cli/definition.ts';
import { foreignWords } from '../src/cli/foreign-words.ts';
import { groups } from '../src/cli/groups.ts';
import { optionWords } from '../src/cli/words.ts';

/** Where the page is, below the checkout. */
export const page = 'docs/reference/commands.md';

/** The text of the page. */
export async function commandReference(): Promise<string> {
  const loaded = await Promise.all(commands.map(({ load }) => load()));
  const sections = [...Map.groupBy(loaded, ({ words }) => words[0]!)];
  return `# Commands

Every command, the options of all of them, and the words of other control planes that are understood. This page is
generated from the commands (\`npm run docs\`), and a test compares the two. \`roster help COMMAND\` explains a command with
its options; [the command line](command-line.md) explains what all of them share.

- [Options of every command](#options-of-every-command)
- [Commands by group](#commands-by-group)
- [Short forms and other words](#short-forms-and-other-words)
- [Words without a command](#words-without-a-command)

## Options of every command

| Option | |
|---|---|
${globalOptions.map(optionRow).join('\n')}

## Commands by group

A word in brackets is optional. A command with a **?** asks at a terminal before it does what cannot be undone
(\`job stop\`: only with \`-purge\`); \`-yes\` does it at once.

${sections.map(([first, list]) => sectionOf(first, list)).join('\n')}
## Short forms and other words

| Written | means |
|---|---|
${Object.entries(aliases)
  .map(([alias, target]) => `| \`roster ${alias}\` | \`roster ${target}\` |`)
  .join('\n')}

Options, too, may be written with the words of others.

| Option | means |
|---|---|
${Object.entries(optionWords)
  .map(([word, name]) => `| \`-${word}\` | \`-${name}\` |`)
  .join('\n')}

## Words without a command

These words of other control planes name nothing here. \`roster\` answers each with the way to the same end.

| Word | |
|---|---|
${Object.entries(foreignWords)
  .map(
    ([word, sentence]) =>
      `| \`${word}\` | ${cell(sentence).replaceAll(/"(roster [^"]+)"/g, '`$1`')} |`,
  )
  .join('\n')}
`;
}

function optionRow({ name, letter, value, description }: OptionDefinition): string {
  const short = letter === undefined ? '' : `\`-${letter}\`, `;
  return `| ${short}\`-${name}${value === undefined ? '' : ` ${value}`}\` | ${cell(description)} |`;
}

/** A first word: its group with all commands, or the command alone. */
function sectionOf(first: string, list: readonly Command[]): string {
  const about = groups[first];
  return `### ${first}

${about === undefined ? '' : `${about}\n\n`}| Command | |
|---|---|
${list.map(commandRow).join('\n')}
`;
}

function commandRow({ words, summary, definition }: Command): string {
  const given = (definition.arguments ?? []).map(({ name, isRequired, isRest, isSeveral }) => {
    const word = isRest || isSeveral ? `${name}…` : name;
    return isRequired ? word : `[${word}]`;
  });
  const usage = [...words, ...(definition.usage === undefined ? given : [definition.usage])];
  const asks = definition.confirms === undefined ? '' : ' **?**';
  return `| \`${usage.join(' ')}\`${asks} | ${cell(summary)} |`;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('*', '\\*');

if (import.meta.main) {
  writeFileSync(fileURLToPath(new URL(`../${page}`, import.meta.url)), await commandReference());
  console.log(`wrote ${page}`);
}
