import { Option, Command as Parser } from 'commander';
import type { CommandEntry } from './command-entry.ts';
import { commands } from './commands.generated.ts';
import {
  type Command,
  type CommandDefinition,
  globalOptions,
  type OptionDefinition,
} from './definition.ts';
import { groups } from './groups.ts';
import type { Options } from './options.ts';

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

const ending = `
Environment: ROSTER_ADDR, ROSTER_TOKEN, ROSTER_NAMESPACE, ROSTER_PARTITION, ROSTER_CACERT,
  ROSTER_CLIENT_CERT, ROSTER_CLIENT_KEY, NO_COLOR.
Exit codes: 0 done; 1 an error; 2 not all of a job could be placed, started or deployed; 130 interrupted.
Options may be written with one dash or two. Ids may be shortened to 8 or more characters.`;

const beginning = `
First steps:
  roster agent --dev                  start a server and a node on this machine
  roster job run examples/web.json    run a job
  roster job status web               see how it fares`;

/** The tree of commands for the parser, which makes help, suggestions and errors. */
export function buildProgram(options: ProgramOptions): Parser {
  const program = new Parser('roster');
  program
    .description('One control plane for a fleet: access control, service registry, jobs.')
    .addHelpText('after', `${beginning}\n${ending}`)
    .helpCommand('help [command...]', 'Explain a command.');
  prepare(program, options, false);
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
    const command = new Parser(name).summary(entry.summary).description(entry.summary);
    const loaded = options.loaded?.entry === entry ? options.loaded.command : undefined;
    // The command's own options come before the global ones.
    if (loaded !== undefined) fill(command, loaded.definition, options);
    const own = loaded?.definition.options?.map((option) => option.name) ?? [];
    prepare(command, options, loaded !== undefined && 'runLocally' in loaded, own);
    parentOf(entry.words).addCommand(command);
  }
  return program;
}

function addGroup(parent: Parser, name: string, options: ProgramOptions): Parser {
  const group = new Parser(name.split(' ').at(-1)).description(groups[name]!).helpCommand(false);
  prepare(group, options, false);
  parent.addCommand(group);
  return group;
}

function prepare(
  command: Parser,
  { writeOut, writeError, isColored, columns }: ProgramOptions,
  isLocal: boolean,
  /** Names of the command's own options, which take precedence over global ones. */
  own: readonly string[] = [],
): void {
  const width = Math.min(columns, 100);
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
  for (const option of globalOptions) {
    if (own.includes(option.name)) continue;
    const made = parserOption(option).helpGroup('Options of every command:');
    // Local commands accept them too, but do not show them.
    command.addOption(made.hideHelp(isLocal && option.value !== undefined));
  }
}

function fill(command: Parser, definition: CommandDefinition, { found }: ProgramOptions): void {
  for (const argument of definition.arguments ?? []) {
    const { description, isRequired, isRest } = argument;
    const name = isRest ? `${argument.name}...` : argument.name;
    command.argument(isRequired ? `<${name}>` : `[${name}]`, description);
  }
  if (definition.usage !== undefined) command.usage(`[options] ${definition.usage}`);
  for (const option of definition.options ?? []) command.addOption(parserOption(option));
  if (definition.details !== undefined) command.addHelpText('after', `\n${definition.details}`);
  command.action(() => {
    found({ words: command.args, options: optionsOf(command.optsWithGlobals()) });
  });
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
