/**
 * The command line: parses the words, runs the command that they name, and prints errors.
 * It runs in process, for tests and `main.ts`.
 */
import { withoutAlias } from './aliases.ts';
import { isColored } from './colors.ts';
import type { Command } from './definition.ts';
import type { CliEnvironment } from './environment.ts';
import { foreignWord } from './foreign-words.ts';
import type { Parsed } from './program.ts';
import { locate, normalizeWords, withRest } from './words.ts';

/** `given` are the words after the program's name. Resolves with the exit code; rejects only for a bug. */
export async function runCli(
  given: readonly string[],
  environment: CliEnvironment,
): Promise<number> {
  if (given[0] === '__complete') {
    const { runCompletion } = await import('./completion/complete.ts');
    return runCompletion(given.slice(1), environment);
  }
  const words = withoutAlias(given);
  const normalized = asHelp(normalizeWords(words));
  const { entry, plain } = locate(normalized);
  const command = await entry?.load();
  const foreign = entry === undefined ? foreignWord(plain.map(({ word }) => word)) : undefined;
  if (foreign !== undefined) return refuseForeign(foreign, normalized, environment);
  const spoken =
    command === undefined
      ? normalized
      : withRest(words, normalized, entry!.words, command.definition);
  const parsed = await parse(spoken, words, environment, command && { entry: entry!, command });
  const errorExitCode = command?.definition.errorExitCode ?? 1;
  if (typeof parsed === 'number' || command === undefined) {
    return parsed === 0 ? 0 : errorExitCode;
  }
  return runCommand(command, parsed, environment);
}

/** Turns `help job run`, or a group alone, into a request for help: `job run --help`. */
function asHelp(words: readonly string[]): readonly string[] {
  const asked = words[0] === 'help';
  const rest = asked ? words.slice(1) : words;
  const { entry, group, plain } = locate(rest);
  const isOpen = plain.length === (group === undefined ? 0 : group.split(' ').length);
  const isForeign = foreignWord(plain.map(({ word }) => word)) !== undefined;
  const wantsHelp =
    (asked && (entry !== undefined || isForeign)) || (isOpen && !words.includes('--version'));
  return wantsHelp ? [...rest, '--help'] : rest;
}

/** Whether an option of every command is among normalized words. */
function hasFlag(words: readonly string[], flag: string): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end < 0 ? undefined : end).includes(flag);
}

const manners = (words: readonly string[]) => ({
  isJson: hasFlag(words, '--json'),
  isColorless: hasFlag(words, '--no-color'),
});

async function refuseForeign(
  { name, sentence }: { readonly name: string; readonly sentence: string },
  words: readonly string[],
  environment: CliEnvironment,
): Promise<number> {
  const { commandCodes, exitCodes, ofCommand } = await import('./errors.ts');
  const { report } = await import('./report.ts');
  const told = ofCommand(commandCodes.usage, `Unknown command '${name}'`, { hint: sentence });
  await report(told, environment, manners(words));
  return exitCodes.error;
}

type Loaded = Parameters<typeof import('./program.ts').buildProgram>[0]['loaded'];

async function parse(
  words: readonly string[],
  /** The words as they were typed. */
  given: readonly string[],
  environment: CliEnvironment,
  loaded: Loaded,
): Promise<Parsed | number> {
  const { stdout, env, build } = environment;
  const { buildProgram } = await import('./program.ts');
  let out = '';
  let fault = '';
  let found: Parsed | undefined;
  const program = buildProgram({
    version: build.version,
    isColored: isColored(stdout, env, hasFlag(words, '--no-color')),
    columns: stdout.columns,
    loaded,
    writeOut: (text) => {
      out += text;
    },
    writeError: (text) => {
      fault += text;
    },
    found: (parsed) => {
      found = parsed;
    },
  });
  let exitCode = 0;
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    const { code, exitCode: given } = error as { code?: unknown; exitCode?: number };
    if (typeof code !== 'string' || !code.startsWith('commander.')) throw error;
    exitCode = given ?? 1;
  }
  if (out !== '') await printHelp(out, words, environment);
  if (fault !== '') await refuse(fault, words, given, environment);
  return exitCode === 0 && found !== undefined ? found : exitCode;
}

async function printHelp(
  text: string,
  words: readonly string[],
  environment: CliEnvironment,
): Promise<void> {
  const { pagerIn, printPaged } = await import('./pager.ts');
  const pager = hasFlag(words, '--no-pager') ? undefined : pagerIn(environment);
  if (pager === undefined) await environment.stdout.write(text);
  else await printPaged(environment, pager, text);
}

/** Reports a fault of the words. */
async function refuse(
  fault: string,
  words: readonly string[],
  given: readonly string[],
  environment: CliEnvironment,
): Promise<void> {
  const { commandCodes, ofCommand } = await import('./errors.ts');
  const { report } = await import('./report.ts');
  const sentence = withTypedDashes(fault.replace(/^error: /, '').trimEnd(), given);
  const message = sentence.charAt(0).toUpperCase() + sentence.slice(1);
  const { entry, group } = locate(words);
  const about = entry?.words.join(' ') ?? group;
  const hint = `See "roster ${about === undefined ? 'help' : `${about} --help`}".`;
  await report(ofCommand(commandCodes.usage, message, { hint }), environment, manners(words));
}

/** The sentence with the options written with as many dashes as the user has typed. */
function withTypedDashes(sentence: string, given: readonly string[]): string {
  const [, option] = /--([a-z][\w-]+)/i.exec(sentence) ?? [];
  const isShort = given.some((word) => word === `-${option}` || word.startsWith(`-${option}=`));
  return isShort ? sentence.replace(/(?<![\w-])--(?=[a-z])/gi, '-') : sentence;
}

async function runCommand(
  command: Command,
  parsed: Parsed,
  environment: CliEnvironment,
): Promise<number> {
  const { definition } = command;
  const pages = definition.isPaged === true && !parsed.options.flag('noPager');
  if (!pages || !environment.stdout.isTerminal) return perform(command, parsed, environment);
  const { KeptOutput, pagerIn, printPaged } = await import('./pager.ts');
  const pager = pagerIn(environment);
  if (pager === undefined) return perform(command, parsed, environment);
  const stdout = new KeptOutput(environment.stdout);
  // An error is printed when the reader has left the pager.
  return perform(command, parsed, { ...environment, stdout }, () =>
    printPaged(environment, pager, stdout.text),
  );
}

async function perform(
  command: Command,
  parsed: Parsed,
  environment: CliEnvironment,
  beforeEnd: () => Promise<void> = async () => {},
): Promise<number> {
  const { definition } = command;
  let exitCode: number;
  try {
    const { withFiles } = await import('./given-files.ts');
    const { words, options } = await withFiles(definition, parsed, environment);
    if (definition.confirms !== undefined) {
      const { isConfirmed } = await import('./confirmation.ts');
      if (!(await isConfirmed(definition, { words, options }, environment))) {
        await environment.stderr.write('Nothing is changed.\n');
        return 1;
      }
    }
    exitCode = await run(command, { words, options }, environment);
  } catch (error) {
    await beforeEnd();
    return fail(error, environment, parsed, definition.errorExitCode);
  }
  await beforeEnd();
  return exitCode;
}

async function run(
  command: Command,
  { words, options }: Parsed,
  environment: CliEnvironment,
): Promise<number> {
  if ('runLocally' in command) return command.runLocally(environment, words, options);
  const { createContext } = await import('./context.ts');
  const { isAnonymous = false } = command.definition;
  const context = await createContext(environment, options, isAnonymous);
  try {
    return await command.run(context, words, options);
  } finally {
    await context.client.close();
  }
}

/** Prints an error. Rethrows a bug. */
async function fail(
  error: unknown,
  environment: CliEnvironment,
  { options }: Parsed,
  errorExitCode: number | undefined,
): Promise<number> {
  const { exitCodes, explainError, Interrupted } = await import('./errors.ts');
  if (error instanceof Interrupted) {
    return environment.stdout.closed.aborted ? exitCodes.ok : exitCodes.interrupted;
  }
  const explained = explainError(error);
  if (explained === undefined) throw error;
  const { report } = await import('./report.ts');
  await report(explained, environment, {
    isJson: options.flag('json'),
    isColorless: options.flag('noColor'),
  });
  return errorExitCode ?? exitCodes.error;
}
