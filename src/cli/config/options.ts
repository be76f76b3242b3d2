import { configKinds } from '../../model/config-entry/config-entry.ts';
import { findKind } from '../../model/config-entry/kinds.ts';
import { defaultPartition } from '../../model/namespace/namespace.ts';
import { argument } from '../acl/links.ts';
import type { Context } from '../context.ts';
import type { ArgumentDefinition, OptionDefinition } from '../definition.ts';
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

/** Kind and name may also stand without the options. */
export const entryArguments: readonly ArgumentDefinition[] = [
  {
    ...argument('KIND', 'What kind of entry it is; the same as --kind.', 'word', false),
    choices: configKinds,
  },
  argument('NAME', 'Its name; the same as --name.', 'word', false),
];

export interface EntryWords {
  readonly kind: string;
  readonly name: string | undefined;
}

/** @throws CliError where one is given twice, or no kind at all */
export function entryWords([kindWord, nameWord]: readonly string[], options: Options): EntryWords {
  const given = (name: string, word: string | undefined): string | undefined => {
    const option = options.text(name);
    if (word === undefined || option === undefined) return option || word;
    throw new CliError(`Give the ${name} once: as --${name}, or without it.`);
  };
  const kind = given('kind', kindWord);
  if (kind === undefined) throw new CliError('--kind is required.');
  return { kind, name: given('name', nameWord) };
}

export const fileOption: OptionDefinition = {
  name: 'filename',
  value: 'FILE',
  completes: 'file',
  description: 'The entry that this file describes; instead of --kind and --name.',
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
  { kind, name }: EntryWords,
  partition: string | undefined,
): Promise<string> {
  if (name) return name;
  const { onlyName } = findKind(kind) ?? {};
  if (onlyName === undefined) throw new CliError('--name is required.');
  if (partition !== undefined || onlyName('a') === onlyName('b')) return onlyName(partition ?? '');
  // It is named after the partition, which the token says then.
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
  if (text === undefined) return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CliError(`--modify-index must be an integer from 0, got "${text}".`);
}
