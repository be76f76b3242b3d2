import { dirname } from 'node:path';
import { HclError, type HclFault, renderFaults } from '../language/hcl/errors.ts';
import { standardFunctions } from '../language/hcl/functions/standard.ts';
import { Source } from '../language/hcl/source.ts';
import { type JobFile, readJob } from '../language/jobspec/job-file.ts';
import { type Places, placeOf } from '../language/jobspec/places.ts';
import type { VariableInputs } from '../language/jobspec/variable-values.ts';
import type { Fault } from '../model/errors.ts';
import type { OptionDefinition } from './definition.ts';
import type { CliEnvironment } from './environment.ts';
import { CliError, commandCodes } from './errors.ts';
import type { Options } from './options.ts';
import { plural } from './render/text.ts';

/** Options of every command that reads a job file. */
export const variableOptions: readonly OptionDefinition[] = [
  {
    name: 'var',
    value: 'NAME=VALUE',
    isRepeatable: true,
    description: 'Value of a variable of the job file; overrides files and ROSTER_VAR_NAME.',
  },
  {
    name: 'var-file',
    value: 'FILE',
    isRepeatable: true,
    completes: 'file',
    description: 'Values of variables, as "name = value" or JSON; overrides ROSTER_VAR_NAME.',
  },
];

export interface Variables extends VariableInputs {
  readonly flags: readonly (readonly [name: string, text: string])[];
  readonly files: readonly { readonly name: string; readonly text: string }[];
}

/** The variables from options and environment. @throws CliError */
export async function readVariables(
  environment: CliEnvironment,
  options: Options | undefined,
  readText: (path: string) => Promise<string>,
): Promise<Variables> {
  const flags = (options?.list('var') ?? []).map((word): readonly [string, string] => {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && text !== undefined) return [name.trim(), text];
    throw new CliError(`--var must be NAME=VALUE, got "${word}".`);
  });
  const files = [];
  for (const name of options?.list('varFile') ?? [])
    files.push({ name, text: await readText(name) });
  return { flags, files, environment: fromEnvironment(environment.env) };
}

const prefix = 'ROSTER_VAR_';

const fromEnvironment = (
  env: CliEnvironment['env'],
): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.entries(env)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, text]) => [name.slice(prefix.length), text]),
  );

/** Reads a job from a text in HCL. @throws CliError with every fault and its line */
export function jobOfHcl(
  { clock, secrets, functionFiles }: CliEnvironment,
  path: string,
  text: string,
  variables: Variables,
): JobFile {
  const fileName = nameOf(path);
  const files = functionFiles(path === '-' ? '.' : dirname(path));
  const functions = standardFunctions({ clock, files, ids: secrets });
  try {
    return readJob(text, { fileName, functions, variables });
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    throw faultyFile(fileName, error);
  }
}

export const nameOf = (path: string): string => (path === '-' ? 'standard input' : path);

export function faultyFile(name: string, error: HclError): CliError {
  const many = plural(error.faults.length, 'fault');
  const errors = error.faults.map(({ line, column, sentence }) => ({
    pointer: '',
    message: `${name}:${line}:${column}: ${sentence}`,
  }));
  return new CliError(`${name} has ${many}:\n\n${renderFaults(error)}\n`, {
    refusal: { code: commandCodes.command, status: null, errors },
  });
}

/** The place of a fault in the text of a job. */
export function faultFinder(
  path: string,
  text: string,
  { places }: JobFile,
): (fault: Fault) => HclFault | undefined {
  const source = new Source(text, nameOf(path));
  let known: Places | undefined;
  return ({ pointer, message }) => {
    known ??= places();
    const place = placeOf(known, pointer);
    return place && source.fault(message, place.offset);
  };
}
