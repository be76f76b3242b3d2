import { configKinds } from '../../model/config-entry/config-entry.ts';
import { isMissing } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { argument, type ClientCommand, filterOption, verbose } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { printRecords } from '../list-command.ts';
import { pairsText } from '../pairs.ts';
import { makePlan, planOption } from '../plan/make.ts';
import { oneLine } from '../render/text.ts';
import { readText } from '../text-file.ts';
import { entryFileOf } from './entry-file.ts';
import { entryText } from './entry-text.ts';
import {
  casOf,
  deleteGuard,
  dryRunOption,
  type EntryWords,
  entryArguments,
  entryName,
  entryWords,
  fileOption,
  kindOption,
  nameOption,
  writeGuard,
} from './options.ts';

const fileExample = `Example of a file:
  Kind     = "service-intentions"
  Name     = "web"
  Sources = [
    { Name = "api", Action = "allow" },
    { Name = "*", Action = "deny" },
  ]

Blocks mean the same: Sources { Name = "api" }, once for each of them.`;

interface Outcome {
  readonly wasDone: boolean;
  readonly sentence: string;
  readonly cas: number | undefined;
  readonly entry: EntryWords;
  readonly partition: string | undefined;
}

/** @throws CliError if the guard failed */
async function done(context: Context, outcome: Outcome) {
  const { isJson, json, screen } = context;
  const { wasDone, sentence, cas, entry, partition } = outcome;
  if (isJson) await json(wasDone);
  else if (wasDone) await screen.line(sentence);
  if (wasDone) return exitCodes.ok;
  const index = await presentIndex(context, entry, partition);
  const reason =
    index === undefined
      ? 'there is no such entry.'
      : cas === 0
        ? `there is such an entry already, at index ${index}. --modify-index replaces the one that was seen.`
        : `the entry is at index ${index}, and not at the one that --modify-index says.`;
  throw new CliError(`Nothing is changed: ${reason}`);
}

/** The current index of the entry; `undefined` if there is no such entry. */
async function presentIndex(
  context: Context,
  entry: EntryWords,
  partition: string | undefined,
): Promise<number | undefined> {
  try {
    const name = await entryName(context, entry, partition);
    const { value } = await context.client.configEntries.read(entry.kind, name, { partition });
    return value.ModifyIndex;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export const configWrite: ClientCommand = {
  words: ['config', 'write'],
  summary: 'Make or replace a configuration entry.',
  definition: {
    arguments: [argument('FILE', 'The entry, in HCL or JSON; - is standard input.', 'file')],
    options: [...writeGuard, dryRunOption, planOption, verbose],
    details: fileExample,
  },
  async run(context, [path], options) {
    const cas = casOf(options);
    const file = entryFileOf(await readText(context, path!, 'configuration entry'), path!);
    const { entry } = file;
    const dryRun = options.flag('dryRun');
    const { partition } = context;
    if (options.flag('plan')) {
      const act = { Kind: 'configuration-entry', Partition: partition, Entry: entry };
      return makePlan(context, act).catch((error: unknown) => {
        throw file.explain(error);
      });
    }
    const { value } = await context.client.configEntries
      .write(entry, { cas, dryRun, partition })
      .catch((error: unknown) => {
        throw file.explain(error);
      });
    const words = wordsIn(entry);
    const what = `The entry ${oneLine(words.kind)}${words.name ? `/${oneLine(words.name)}` : ''}`;
    const sentence = dryRun ? `${what} would be written.` : `${what} is written.`;
    return done(context, { wasDone: value, sentence, cas, entry: words, partition });
  },
};

/** Kind and name; the file may spell the fields in any case. */
function wordsIn(entry: Readonly<Record<string, unknown>>): EntryWords {
  const field = (name: string) =>
    Object.entries(entry).find(([key]) => key.toLowerCase() === name)?.[1];
  const name = field('name');
  return { kind: String(field('kind')), name: name ? String(name) : undefined };
}

export const configRead: ClientCommand = {
  words: ['config', 'read'],
  summary: 'Show a configuration entry.',
  definition: {
    isPaged: true,
    arguments: entryArguments,
    options: [kindOption, nameOption],
    details: 'Prints the entry as a file for "config write"; --json prints all of its fields.',
  },
  async run(context, words) {
    const { client, screen, show } = context;
    const entry = entryWords(words);
    const { partition } = context;
    const { kind } = entry;
    const name = await entryName(context, entry, partition);
    const { value } = await client.configEntries.read(kind, name, { partition });
    return show(value, () => screen.line(entryText(value)));
  },
};

export const configList: ClientCommand = {
  words: ['config', 'list'],
  summary: 'List configuration entries.',
  definition: {
    isPaged: true,
    arguments: [
      {
        ...argument('KIND', 'Only entries of the kind; all kinds by default.', 'word', false),
        choices: configKinds,
        flags: ['kind'],
      },
    ],
    options: [filterOption],
  },
  async run(context, [kind], options) {
    const { partition, client, namespace } = context;
    const filter = options.text('filter');
    const { value } = await client.configEntries.list(kind, { filter, partition });
    return printRecords<(typeof value)[number]>(context, value, {
      records: value,
      empty: 'There are no configuration entries.',
      columns: {
        Kind: ({ Kind }) => Kind,
        Name: ({ Name }) => oneLine(Name),
        ...(namespace === '*' && { Namespace: ({ Namespace }) => oneLine(Namespace) }),
        ModifyIndex: ({ ModifyIndex }) => String(ModifyIndex),
        Meta: ({ Meta }) => oneLine(pairsText(Meta)) || '-',
      },
    });
  },
};

export const configDelete: ClientCommand = {
  words: ['config', 'delete'],
  summary: 'Delete a configuration entry.',
  definition: {
    confirms: (words, options) =>
      options.flag('dryRun') || options.flag('plan')
        ? undefined
        : `Delete the entry ${words.filter(Boolean).join('/') || options.text('filename')}?`,
    arguments: entryArguments.map((one) => ({ ...one, isRequired: false })),
    options: [
      kindOption,
      nameOption,
      fileOption,
      ...deleteGuard,
      dryRunOption,
      planOption,
      verbose,
    ],
  },
  async run(context, words, options) {
    const file = options.text('filename');
    const entry = file === undefined ? entryWords(words) : await wordsOf(context, file);
    if (entry.kind === '') throw new CliError('Give KIND and NAME of the entry, or --filename.');
    const cas = casOf(options);
    if (cas === 0) throw new CliError('--cas needs the --modify-index that was seen.');
    const dryRun = options.flag('dryRun');
    const { partition } = context;
    const { kind } = entry;
    const name = await entryName(context, entry, partition);
    if (options.flag('plan')) {
      const act = { Kind: 'configuration-entry', Partition: partition };
      return makePlan(context, { ...act, Delete: { Kind: kind, Name: name } });
    }
    const isThere = (await presentIndex(context, { kind, name }, partition)) !== undefined;
    const guard = { cas, dryRun, partition };
    const { value } = await context.client.configEntries.delete(kind, name, guard);
    const what = `The entry ${kind}/${oneLine(name)}`;
    const outcome = dryRun ? 'would be deleted' : 'is deleted';
    const sentence = isThere
      ? `${what} ${outcome}.`
      : `There is no entry ${kind}/${oneLine(name)}.`;
    return done(context, { wasDone: value, sentence, cas, entry: { kind, name }, partition });
  },
};

async function wordsOf(context: Context, path: string): Promise<EntryWords> {
  return wordsIn(entryFileOf(await readText(context, path, 'configuration entry'), path).entry);
}
