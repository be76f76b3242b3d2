import { Option, Command as Parser } from 'commander';
import type { CommandEntry } from './command-entry.ts';
import { commands } from './commands.generated.ts';
import {
  type ArgumentDefinition,
  type Command,
  type CommandDefinition,
  globalOptions,
  globalOptionsBeside,
  type OptionDefinition,
  ownOptions,
} from './definition.ts';
import { groups } from './groups.ts';
import { camelCase, type Options } from './options.ts';

/** The command's words and options. */
export interface Parsed {
  readonly words: readonly string[];
  readonly options: Options;
}

interface ProgramOptions {
  readonly version: string;
  readonly isColored: boolean;
  readonly columns: number;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** The command with its options; all other commands only have their names. */
  readonly loaded: { readonly entry: CommandEntry; readonly command: Command } | undefined;
  readonly found: (parsed: Parsed) => void;
}

const ending = [
  'Environment: ROSTER_ADDR, ROSTER_TOKEN, ROSTER_TOKEN_FILE, ROSTER_NAMESPACE, ROSTER_PARTITION, ROSTER_CACERT, ROSTER_CLIENT_CERT, ROSTER_CLIENT_KEY, ROSTER_PAGER, PAGER, NO_COLOR, CLICOLOR, CLICOLOR_FORCE, FORCE_COLOR.',
  'Exit codes: 0 done; 1 an error; 2 not all of a job could be placed, started or deployed; 130 interrupted.',
  'Options may be written with one dash or two. Ids may be shortened to 8 or more characters. Where a file is taken, @FILE means the same as FILE, and - is standard input.',
  'Short forms: run, plan, stop, status, logs, exec, members and more mean "job run", "job plan" and so on.',
];

const beginning = `
First steps:
  roster agent --dev            start a server and a node on this machine
  roster job init               write a job file, example.hcl
  roster job run example.hcl    run the job
  roster job status example     see how it fares
`;

/** The end of the help of the program. */
function programDetails(program: Parser, helpWidth: number): string {
  const help = program.createHelp();
  help.prepareContext({ helpWidth });
  const made = globalOptions.map(parserOption);
  const width = Math.max(...made.map(({ flags }) => flags.length));
  const options = made.map(({ flags, description }) =>
    help.formatItem(flags, width, description, help),
  );
  const sentences = ending.map((text) => help.boxWrap(text, helpWidth));
  return [beginning, 'Options of every command:', ...options, '', ...sentences].join('\n');
}

/** The tree of commands for the parser, which makes help, suggestions and errors. */
export function buildProgram(options: ProgramOptions): Parser {
  const program = new Parser('roster');
  program
    .description('One control plane for a fleet: access control, service registry, jobs.')
    .addHelpText('after', () => programDetails(program, helpWidth(options)))
    .helpCommand('help [command...]', 'Explain a command.');
  prepare(program, options);
  addGlobalOptions(program, options, 'no');
  // Some commands have their own option --version, for the version of a job.
  const own = options.loaded?.command.definition.options ?? [];
  if (!own.some(({ name }) => name === 'version')) {
    program.version(`roster ${options.version}`, '--version', 'Print the version of this program.');
  }
  const parents = new Map<string, Parser>([['', program]]);
  const parentOf = (words: readonly string[]): Parser => {
    const above = words.slice(0, -1);
    const name = above.join(' ');
    const parent = parents.get(name) ?? addGroup(parentOf(above), name, options);
    parents.set(name, parent);
    return parent;
  };
  for (const entry of commands) {
    const name = entry.words.at(-1)!;
    const command = new Parser(name)
      .summary(entry.summary)
      .description(entry.summary)
      .helpCommand(false);
    const loaded = options.loaded?.entry === entry ? options.loaded.command : undefined;
    // The command's own options come before the global ones.
    if (loaded !== undefined) fill(command, loaded.definition, options);
    prepare(command, options);
    // The parser compares each with all that the command has, which took the most of its time for other commands.
    if (isAbove(entry.words, options)) {
      const isLocal = loaded !== undefined && 'runLocally' in loaded;
      addGlobalOptions(command, options, isLocal ? 'local' : 'all');
    }
    parentOf(entry.words).addCommand(command);
    // Commands with more words may stand below it.
    parents.set(entry.words.join(' '), command);
  }
  return program;
}

/** Whether the words of the loaded command begin with these, or any command may be meant. */
const isAbove = (words: readonly string[], { loaded }: ProgramOptions): boolean =>
  loaded === undefined || words.every((word, at) => loaded.entry.words[at] === word);

function addGroup(parent: Parser, name: string, options: ProgramOptions): Parser {
  const group = new Parser(name.split(' ').at(-1)).description(groups[name]!).helpCommand(false);
  group.addHelpText('after', '\n"roster help" lists the options of every command.');
  prepare(group, options);
  addGlobalOptions(group, options, 'no');
  parent.addCommand(group);
  return group;
}

const helpWidth = ({ columns }: ProgramOptions): number => Math.min(columns, 100);

/** The global options in its help: all, those of a command without an agent, or none, as it has commands of its own. */
type Shown = 'all' | 'local' | 'no';

function prepare(command: Parser, options: ProgramOptions): void {
  const { writeOut, writeError, isColored } = options;
  const width = helpWidth(options);
  command
    .exitOverride()
    .helpOption('-h, --help', 'Explain this command.')
    .showSuggestionAfterError(true)
    .configureHelp({
      subcommandTerm: (subcommand) => subcommand.name(),
    })
    .configureOutput({
      writeOut,
      writeErr: writeError,
      outputError: (text, write) => write(text),
      getOutHasColors: () => isColored,
      getErrHasColors: () => false,
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
    });
}

/** The parser looks for global options in front of the command too. */
function addGlobalOptions(command: Parser, { loaded }: ProgramOptions, shown: Shown): void {
  for (const option of globalOptionsBeside(loaded?.command.definition)) {
    const made = parserOption(option).helpGroup('Options of every command:');
    // Local commands accept those for an agent too.
    const isForAgent = option.value !== undefined && option.name !== 'template';
    command.addOption(made.hideHelp(shown === 'no' || (shown === 'local' && isForAgent)));
  }
}

function fill(command: Parser, definition: CommandDefinition, { found }: ProgramOptions): void {
  const list = definition.arguments ?? [];
  for (const { name, description, isRequired, isRest, isSeveral, flags } of list) {
    const word = isRest || isSeveral ? `${name}...` : name;
    command.argument(isRequired && flags === undefined ? `<${word}>` : `[${word}]`, description);
  }
  if (definition.usage !== undefined) command.usage(`[options] ${definition.usage}`);
  else if (list.some(({ flags }) => flags !== undefined)) command.usage(usageOf(list));
  for (const option of ownOptions(definition)) command.addOption(parserOption(option));
  if (definition.details !== undefined) command.addHelpText('after', `\n${definition.details}`);
  command.action(() => {
    const options = optionsOf(command.optsWithGlobals());
    const words = placedWords(list, command.args, options);
    if (typeof words === 'string') command.error(`error: ${words}`);
    else found({ words, options });
  });
}

const dashed = (flags: readonly string[]): readonly string[] => flags.map((flag) => `--${flag}`);

const usageOf = (list: readonly ArgumentDefinition[]): string =>
  [
    '[options]',
    ...list.map(({ name, isRequired }) => (isRequired ? `<${name}>` : `[${name}]`)),
  ].join(' ');

/**
 * The words by argument: an argument that an option gives leaves the words to the other arguments. A missing
 * argument is the empty text if a later argument is given. Returns a fault as text.
 */
export function placedWords(
  list: readonly ArgumentDefinition[],
  words: readonly string[],
  options: Options,
): readonly string[] | string {
  if (list.every(({ flags }) => flags === undefined)) return words;
  const left = [...words];
  const placed: (string | undefined)[] = [];
  for (const { name, flags = [], isRequired } of list) {
    const given = flags.map((flag) => options.text(camelCase(flag))).filter((text) => text);
    if (new Set(given).size > 1) return `${name} is given twice: by ${dashed(flags).join(' and ')}`;
    const word = given[0] ?? left.shift();
    if (!word && isRequired) return `missing required argument '${name}'`;
    placed.push(word);
  }
  if (left.length > 0) {
    const told = list.flatMap(({ name, flags = [] }) =>
      flags
        .filter((flag) => options.text(camelCase(flag)))
        .map((flag) => `--${flag} gives ${name}`),
    );
    return [`too many arguments: "${left[0]}" is left`, ...told].join(', ');
  }
  while (placed.length > 0 && placed.at(-1) === undefined) placed.pop();
  return placed.map((word) => word ?? '');
}

function parserOption(option: OptionDefinition): Option {
  const { name, letter, value, description, choices, isRepeatable } = option;
  const about =
    choices === undefined ? description : `${description} One of ${choices.join(', ')}.`;
  const flags = `${letter === undefined ? '' : `-${letter}, `}--${name}`;
  const made = new Option(value === undefined ? flags : `${flags} <${value}>`, about);
  if (isRepeatable) {
    made.argParser((text: string, before: readonly string[] = []) => [...before, text]);
  }
  return made;
}

export function optionsOf(values: Readonly<Record<string, unknown>>): Options {
  return {
    flag: (name) => values[name] === true || values[positive(name)] === false,
    text: (name) => (typeof values[name] === 'string' ? values[name] : undefined),
    list: (name) => (Array.isArray(values[name]) ? (values[name] as string[]) : []),
  };
}

/** The parser turns `--no-color` into `color: false`. */
const positive = (name: string): string =>
  name.replace(/^no([A-Z])/, (_, letter: string) => letter.toLowerCase());
