import { configKinds } from '../../model/config-entry/config-entry.ts';
import { findKind } from '../../model/config-entry/kinds.ts';
import { defaultPartition } from '../../model/namespace/namespace.ts';
import type { Context } from '../context.ts';
import { type ArgumentDefinition, argument, type OptionDefinition } from '../definition.ts';
import { CliError } from '../errors.ts';
import type { Options } from '../options.ts';
import { wholeNumberOption } from '../whole-number.ts';

export const kindOption: OptionDefinition = {
  name: 'kind',
  value: 'KIND',
  choices: configKinds,
  description: 'Kind of the entry.',
};

export const nameOption: OptionDefinition = {
  name: 'name',
  value: 'NAME',
  description:
    'Its name. May be omitted for kinds with a single entry: mesh, proxy-defaults, exported-services.',
};

/** Kind and name of an entry. */
export const entryArguments: readonly ArgumentDefinition[] = [
  { ...argument('KIND', 'Kind of the entry.'), choices: configKinds, flags: ['kind'] },
  {
    ...argument('NAME', 'Its name; optional for kinds with a single entry.', 'word', false),
    flags: ['name'],
  },
];

export interface EntryWords {
  readonly kind: string;
  readonly name: string | undefined;
}

export const entryWords = ([kind = '', name]: readonly string[]): EntryWords => ({
  kind,
  name: name || undefined,
});

export const fileOption: OptionDefinition = {
  name: 'filename',
  value: 'FILE',
  completes: 'file',
  description: 'The entry that this file describes; instead of --kind and --name.',
};

const casOption: OptionDefinition = {
  name: 'cas',
  description: 'Only if the ModifyIndex of the entry is still that of --modify-index.',
};

/** `zero` explains the index 0, which has different meanings for a write and a delete. */
const modifyIndexOption = (zero: string): OptionDefinition => ({
  name: 'modify-index',
  value: 'N',
  description: `The expected ModifyIndex${zero}`,
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
  description: 'Check everything, and store nothing.',
};

/**
 * The name of the entry, which may be omitted for kinds with a single entry in a partition.
 * @throws CliError
 */
export async function entryName(
  { client }: Pick<Context, 'client'>,
  { kind, name }: EntryWords,
  partition: string | undefined,
): Promise<string> {
  if (name) return name;
  const { onlyName } = findKind(kind) ?? {};
  if (onlyName === undefined) throw new CliError('The NAME of the entry is missing.');
  if (partition !== undefined || onlyName('a') === onlyName('b')) return onlyName(partition ?? '');
  // The entry has the name of the partition, which here is the token's own.
  const { value } = await client.configEntries.list(kind);
  return value[0]?.Name ?? onlyName(defaultPartition);
}

/** @throws CliError */
export function casOf(options: Options): number | undefined {
  const text = options.text('modifyIndex');
  if (!options.flag('cas')) {
    if (text === undefined) return undefined;
    throw new CliError('--modify-index says nothing without --cas.');
  }
  return wholeNumberOption(options, 'modify-index') ?? 0;
}
