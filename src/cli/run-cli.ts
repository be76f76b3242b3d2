/**
 * The command line: parses the words, runs the command that they name, and prints errors.
 * It runs in process, for tests and `main.ts`.
 */
import picocolors from 'picocolors';
import type { Command } from './definition.ts';
import type { CliEnvironment } from './environment.ts';
import type { Options } from './options.ts';
import { locate, normalizeWords, withRest } from './words.ts';

/** `words` are the words after the program's name. Resolves with the exit code; rejects only for a bug. */
export async function runCli(
  words: readonly string[],
  environment: CliEnvironment,
): Promise<number> {
  if (words[0] === '__complete') {
    const { runCompletion } = await import('./completion/complete.ts');
    return runCompletion(words.slice(1), environment);
  }
  const normalized = asHelp(normalizeWords(words));
  const { entry } = locate(normalized);
  const command = await entry?.load();
  const spoken =
    command === undefined
      ? normalized
      : withRest(words, normalized, entry!.words, command.definition);
  const parsed = await parse(spoken, environment, command && { entry: entry!, command });
  const errorExitCode = command?.definition.errorExitCode ?? 1;
  if (typeof parsed === 'number' || command === undefined) {
    return parsed === 0 ? 0 : errorExitCode;
  }
  return runCommand(command, parsed.words, parsed.options, environment);
}

/** Turns `help job run`, or a group alone, into a request for help: `job run --help`. */
function asHelp(words: readonly string[]): readonly string[] {
  const asked = words[0] === 'help';
  const rest = asked ? words.slice(1) : words;
  const { entry, group, plain } = locate(rest);
  const isOpen = plain.length === (group === undefined ? 0 : group.split(' ').length);
  const wantsHelp = (asked && entry !== undefined) || (isOpen && !words.includes('--version'));
  return wantsHelp ? [...rest, '--help'] : rest;
}

type Loaded = Parameters<typeof import('./program.ts').buildProgram>[0]['loaded'];

async function parse(
  words: readonly string[],
  { stdout, stderr, env, version }: CliEnvironment,
  loaded: Loaded,
) {
  const { buildProgram } = await import('./program.ts');
  let out = '';
  let fault = '';
  let found: { words: readonly string[]; options: Options } | undefined;
  const program = buildProgram({
    version,
    isColored: stdout.isTerminal && !env.NO_COLOR,
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
  if (out !== '') await stdout.write(out);
  if (fault !== '') await stderr.write(faultText(fault, words));
  return exitCode === 0 && found !== undefined ? found : exitCode;
}

function faultText(fault: string, words: readonly string[]): string {
  const sentence = fault.replace(/^error: /, '').trimEnd();
  const text = sentence.charAt(0).toUpperCase() + sentence.slice(1);
  const { entry, group } = locate(words);
  const about = entry?.words.join(' ') ?? group;
  return `Error: ${text}\nSee "roster ${about === undefined ? 'help' : `${about} --help`}".\n`;
}

async function runCommand(
  command: Command,
  words: readonly string[],
  options: Options,
  environment: CliEnvironment,
): Promise<number> {
  try {
    if ('runLocally' in command) return await command.runLocally(environment, words, options);
    const { createContext } = await import('./context.ts');
    const context = await createContext(environment, options);
    try {
      return await command.run(context, words, options);
    } finally {
      await context.client.close();
    }
  } catch (error) {
    return report(error, environment, command.definition.errorExitCode);
  }
}

/** Prints an error. Rethrows a bug. */
async function report(
  error: unknown,
  { stderr, stdout, env }: CliEnvironment,
  errorExitCode: number | undefined,
): Promise<number> {
  const { exitCodes, explainError, Interrupted } = await import('./errors.ts');
  if (error instanceof Interrupted) {
    return stdout.closed.aborted ? exitCodes.ok : exitCodes.interrupted;
  }
  const explained = explainError(error);
  if (explained === undefined) throw error;
  const { red } = picocolors.createColors(stderr.isTerminal && !env.NO_COLOR);
  const { message, faults, hint } = explained;
  const lines = [`${red('Error:')} ${message}`, ...faults.map((fault) => `  - ${fault}`)];
  if (hint !== undefined) lines.push(hint);
  await stderr.write(`${lines.join('\n')}\n`);
  return errorExitCode ?? exitCodes.error;
}
