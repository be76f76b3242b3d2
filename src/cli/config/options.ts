import { configKinds } from '../../model/config-entry/config-entry.ts';
import { findKind } from '../../model/config-entry/kinds.ts';
import { defaultPartition } from '../../model/namespace/namespace.ts';
import type { Context } from '../context.ts';
import type { OptionDefinition } from '../definition.ts';
import { CliError } from '../errors.ts';
import type { Options } from '../options.ts';

export const kindOption: OptionDefinition = {
  name: 'kind',
  value: 'KIND',
  choices: configKinds,
  description: 'What kind of entry it is.',
};

export const nameOption: OptionDefinition = {
  name: 'name',
  value: 'NAME',
  description:
    'Its name. May be left out for what there is one of: mesh, proxy-defaults, exported-services.',
};

export const partitionOption: OptionDefinition = {
  name: 'partition',
  value: 'NAME',
  description: 'The partition; that of the token when it is not given.',
  completes: 'partition',
};

const casOption: OptionDefinition = {
  name: 'cas',
  description: 'Only if the entry is still at the index that --modify-index says.',
};

/** `zero` is what 0 means, which a write and a delete differ in. */
const modifyIndexOption = (zero: string): OptionDefinition => ({
  name: 'modify-index',
  value: 'N',
  description: `The ModifyIndex that was seen${zero}`,
});

export const writeGuard: readonly OptionDefinition[] = [
  casOption,
  modifyIndexOption('. 0, the default: only if there is no entry yet.'),
];

export const deleteGuard: readonly OptionDefinition[] = [
  casOption,
  modifyIndexOption('; goes with --cas.'),
];

export const dryRunOption: OptionDefinition = {
  name: 'dry-run',
  description: 'Check everything, and keep nothing.',
};

/**
 * What the entry is called: of what there is one of in a partition, it need not be said.
 * @throws CliError naming the option
 */
export async function entryName(
  { client }: Pick<Context, 'client'>,
  kind: string,
  options: Options,
): Promise<string> {
  const { onlyName } = findKind(kind) ?? {};
  if (options.text('name') || onlyName === undefined) return required(options, 'name');
  const partition = options.text('partition');
  if (partition !== undefined || onlyName('a') === onlyName('b')) return onlyName(partition ?? '');
  // It is named after the partition, which the token says then.
  const { value } = await client.configEntries.list(kind);
  return value[0]?.Name ?? onlyName(defaultPartition);
}

/** @throws CliError naming the option */
export function required(options: Options, name: string): string {
  const value = options.text(name);
  if (value !== undefined && value !== '') return value;
  throw new CliError(`--${name} is required.`);
}

/** @throws CliError */
export function casOf(options: Options): number | undefined {
  const text = options.text('modifyIndex');
  if (!options.flag('cas')) {
    if (text === undefined) return undefined;
    throw new CliError('--modify-index says nothing without --cas.');
  }
  if (text === undefined) return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CliError(`--modify-index must be an integer from 0, got "${text}".`);
}
