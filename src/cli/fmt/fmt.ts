import { join } from 'node:path';
import { formatHcl } from '../../language/format/format.ts';
import { HclError } from '../../language/hcl/errors.ts';
import type { LocalCommand } from '../definition.ts';
import type { CliEnvironment } from '../environment.ts';
import { CliError, exitCodes } from '../errors.ts';
import { faultyFile } from '../job-text.ts';
import { cliLimits } from '../limits.ts';
import { readText } from '../text-file.ts';

export const fmt: LocalCommand = {
  words: ['fmt'],
  summary: 'Format job files and policies.',
  definition: {
    arguments: [
      {
        name: 'FILE',
        kind: 'file',
        isRequired: false,
        description: 'A file, a directory (. by default), or - for standard input.',
      },
    ],
    options: [
      { name: 'check', description: 'Change nothing; exit with 1 if a file would change.' },
      { name: 'recursive', description: 'Include subdirectories.' },
    ],
    details: `Formats the .hcl files of directories, and prints the names of changed files. Standard input is
formatted to standard output. The meaning of a file never changes.
Exit codes: 0 done, 1 an error, or -check found an unformatted file.

Examples:
  roster fmt web.hcl
  roster fmt -check -recursive examples`,
  },
  async runLocally(environment, [path = '.'], options) {
    const check = options.flag('check');
    if (path === '-') return formatInput(environment, check);
    const files = await filesAt(environment, path, options.flag('recursive'));
    let changed = 0;
    const errors: CliError[] = [];
    for (const file of files) {
      try {
        if (await formatFile(environment, file, check)) changed++;
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new CliError(errors.map(({ message }) => message).join('\n'));
    return check && changed > 0 ? exitCodes.error : exitCodes.ok;
  },
};

async function formatInput(environment: CliEnvironment, check: boolean): Promise<number> {
  const text = await readText({ environment }, '-', 'HCL');
  const formatted = formattedText('standard input', text);
  if (check) return formatted === text ? exitCodes.ok : exitCodes.error;
  await environment.stdout.write(formatted);
  return exitCodes.ok;
}

/** Whether formatting changes the file. */
async function formatFile(
  environment: CliEnvironment,
  path: string,
  check: boolean,
): Promise<boolean> {
  const text = await environment.readFile(path);
  const formatted = formattedText(path, text);
  if (formatted === text) return false;
  await environment.stdout.write(`${path}\n`);
  if (!check) await environment.writeFile(path, formatted, 'replace');
  return true;
}

function formattedText(name: string, text: string): string {
  try {
    return formatHcl(text, { fileName: name });
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    throw faultyFile(name, error);
  }
}

/** The file itself, or the .hcl files of the directory. */
async function filesAt(
  { readFile, functionFiles }: CliEnvironment,
  path: string,
  isRecursive: boolean,
): Promise<readonly string[]> {
  try {
    await readFile(path);
    return [path];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EISDIR') {
      const reason = code === 'ENOENT' ? 'there is no such file' : message;
      throw new CliError(`"${path}" cannot be read: ${reason}.`);
    }
  }
  const names = functionFiles('.').list(path, cliLimits.fmt.filesMax);
  return names
    .filter((name) => name.endsWith('.hcl') && (isRecursive || !name.includes('/')))
    .map((name) => join(path, name))
    .sort();
}
