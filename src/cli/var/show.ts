import { formatInstant, instantToMs } from '../../base/instant.ts';
import type { Variable } from '../../model/variable/variable.ts';
import type { Context } from '../context.ts';
import type { OptionDefinition } from '../definition.ts';
import { CliError } from '../errors.ts';
import type { Options } from '../options.ts';
import { oneLine } from '../render/text.ts';
import { wholeNumber } from '../whole-number.ts';
import { variableHcl } from './variable-file.ts';

const outs = ['table', 'json', 'hcl', 'none'] as const;
export type Out = (typeof outs)[number];

export const outOption: OptionDefinition = {
  name: 'out',
  value: 'FORM',
  choices: outs,
  description: 'How to print the variable.',
};

/** @throws CliError */
export function outOf(options: Options, isJson: boolean, otherwise: Out = 'table'): Out {
  const given = options.text('out') ?? (isJson ? 'json' : otherwise);
  return oneOf('out', given, outs);
}

/** @throws CliError */
export function oneOf<T extends string>(option: string, given: string, all: readonly T[]): T {
  const found = all.find((one) => one === given);
  if (found !== undefined) return found;
  throw new CliError(`--${option} must be one of ${all.join(', ')}, got "${given}".`);
}

export const guardOptions: readonly OptionDefinition[] = ['check-index', 'cas'].map((name) => ({
  name,
  value: 'N',
  description:
    name === 'cas'
      ? 'The same as --check-index.'
      : 'Only if the ModifyIndex of the variable is N; 0: only if it does not exist.',
}));

/** @throws CliError */
export function guardOf(options: Options): number | undefined {
  const text = options.text('checkIndex') ?? options.text('cas');
  return text === undefined ? undefined : wholeNumber('--check-index', text);
}

export async function printVariable(
  { screen, environment, json }: Context,
  variable: Variable,
  out: Out,
): Promise<void> {
  switch (out) {
    case 'none':
      return;
    case 'json':
      return json(variable);
    case 'hcl':
      return environment.stdout.write(variableHcl(variable));
    case 'table': {
      const time = (instant: number) => formatInstant(instantToMs(instant));
      await screen.fields([
        ['Namespace', oneLine(variable.Namespace)],
        ['Path', oneLine(variable.Path)],
        ['Created', `index ${variable.CreateIndex}, ${time(variable.CreateTime)}`],
        ['Modified', `index ${variable.ModifyIndex}, ${time(variable.ModifyTime)}`],
      ]);
      await screen.title('Items');
      await screen.fields(
        Object.entries(variable.Items).map(([name, text]) => [oneLine(name), oneLine(text)]),
      );
    }
  }
}
