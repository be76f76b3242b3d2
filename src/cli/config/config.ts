import { argument } from '../acl/links.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, filterOption } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { oneLine } from '../render/text.ts';
import { readText } from '../text-file.ts';
import { entryFileOf } from './entry-file.ts';
import { entryText } from './entry-text.ts';
import {
  casOf,
  deleteGuard,
  dryRunOption,
  entryName,
  kindOption,
  nameOption,
  partitionOption,
  required,
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

/** @throws CliError when the guard failed */
async function done(
  { isJson, json, screen }: Context,
  { wasDone, sentence, cas }: { wasDone: boolean; sentence: string; cas: number | undefined },
) {
  if (isJson) await json(wasDone);
  else if (wasDone) await screen.line(sentence);
  if (wasDone) return exitCodes.ok;
  const reason =
    cas === 0
      ? 'there is such an entry already. --modify-index replaces the one that was seen.'
      : 'the entry is not at the index that --modify-index says.';
  throw new CliError(`Nothing is changed: ${reason}`);
}

export const configWrite: ClientCommand = {
  definition: {
    arguments: [argument('FILE', 'The entry, in HCL or JSON; - is standard input.', 'file')],
    options: [...writeGuard, dryRunOption, partitionOption],
    details: fileExample,
  },
  async run(context, [path], options) {
    const cas = casOf(options);
    const file = entryFileOf(await readText(context, path!, 'configuration entry'), path!);
    const { entry } = file;
    const dryRun = options.flag('dryRun');
    const partition = options.text('partition');
    const { value } = await context.client.configEntries
      .write(entry, { cas, dryRun, partition })
      .catch((error: unknown) => {
        throw file.explain(error);
      });
    const what = nameIn(entry);
    const sentence = dryRun ? `${what} would be written.` : `${what} is written.`;
    return done(context, { wasDone: value, sentence, cas });
  },
};

/** `The entry service-defaults/web`, however the file spells its fields. */
function nameIn(entry: Readonly<Record<string, unknown>>): string {
  const field = (name: string) =>
    Object.entries(entry).find(([key]) => key.toLowerCase() === name)?.[1];
  const name = field('name');
  return `The entry ${oneLine(String(field('kind')))}${name ? `/${oneLine(String(name))}` : ''}`;
}

export const configRead: ClientCommand = {
  definition: {
    options: [kindOption, nameOption, partitionOption],
    details: 'It is printed as a file that "config write" takes; --json prints all of its fields.',
  },
  async run(context, _words, options) {
    const { client, isJson, json, screen } = context;
    const kind = required(options, 'kind');
    const name = await entryName(context, kind, options);
    const partition = options.text('partition');
    const { value } = await client.configEntries.read(kind, name, { partition });
    if (isJson) await json(value);
    else await screen.line(entryText(value));
    return exitCodes.ok;
  },
};

export const configList: ClientCommand = {
  definition: {
    options: [
      { ...kindOption, description: 'Only those of the kind; all kinds when it is not given.' },
      filterOption,
      partitionOption,
    ],
  },
  async run({ client, isJson, json, screen, namespace }, _words, options) {
    const [filter, partition] = [options.text('filter'), options.text('partition')];
    const { value } = await client.configEntries.list(options.text('kind'), { filter, partition });
    if (isJson) await json(value);
    else if (value.length === 0) await screen.line('There are no configuration entries.');
    else {
      const everywhere = namespace === '*';
      await screen.table(
        ['Kind', 'Name', ...(everywhere ? ['Namespace'] : []), 'ModifyIndex', 'Meta'],
        value.map(({ Kind, Name, Namespace, ModifyIndex, Meta }) => [
          ...[Kind, oneLine(Name), ...(everywhere ? [oneLine(Namespace)] : [])],
          String(ModifyIndex),
          oneLine(pairsText(Meta)) || '-',
        ]),
      );
    }
    return exitCodes.ok;
  },
};

const pairsText = (meta: Readonly<Record<string, string>> | null): string =>
  Object.entries(meta ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');

export const configDelete: ClientCommand = {
  definition: { options: [kindOption, nameOption, ...deleteGuard, dryRunOption, partitionOption] },
  async run(context, _words, options) {
    const kind = required(options, 'kind');
    const cas = casOf(options);
    if (cas === 0) throw new CliError('--cas needs the --modify-index that was seen.');
    const name = await entryName(context, kind, options);
    const dryRun = options.flag('dryRun');
    const partition = options.text('partition');
    const guard = { cas, dryRun, partition };
    const { value } = await context.client.configEntries.delete(kind, name, guard);
    const what = `The entry ${kind}/${oneLine(name)}`;
    const sentence = dryRun ? `${what} would be deleted.` : `${what} is deleted.`;
    return done(context, { wasDone: value, sentence, cas });
  },
};
