import { everyNamespace } from '../../model/namespace/namespace.ts';
import { everyContext, fuzzyContexts, prefixContexts } from '../../model/search/search.ts';
import type { FoundNames } from '../../sdk/search.ts';
import type { Context } from '../context.ts';
import { argument, type ClientCommand } from '../definition.ts';
import { CliError } from '../errors.ts';
import type { Options } from '../options.ts';
import { oneLine } from '../render/text.ts';

const isOneOf = <C extends string>(list: readonly C[], word: string): word is C =>
  (list as readonly string[]).includes(word);

export const search: ClientCommand = {
  words: ['search'],
  summary: 'Find everything that has a text in its name.',
  definition: {
    isPaged: true,
    arguments: [argument('TEXT', 'Two or more characters of the name; case does not count.')],
    options: [
      {
        name: 'context',
        value: 'CONTEXT',
        choices: [everyContext, ...fuzzyContexts],
        description: 'Search among these only.',
      },
      {
        name: 'prefix',
        description: 'Find ids and names that begin with the text; case counts.',
      },
    ],
    details: `It searches in all namespaces, unless --namespace names one, and shows what your token may list.

Examples:
  roster search web
  roster search --context nodes east
  roster search --prefix 7f3a`,
  },
  async run(context, [text = ''], options) {
    const found = await foundBy(context, text, options);
    return context.show(found, () => print(context, found));
  },
};

async function foundBy(
  { client, namespace = everyNamespace }: Context,
  text: string,
  options: Options,
): Promise<Pick<FoundNames, 'Truncations'> & { readonly Matches: Matches }> {
  const where = { namespace };
  const chosen = options.text('context') ?? everyContext;
  if (!options.flag('prefix')) {
    const all = [everyContext, ...fuzzyContexts] as const;
    return (await client.search.fuzzy(text, isOneOf(all, chosen) ? chosen : everyContext, where))
      .value;
  }
  const all = [everyContext, ...prefixContexts] as const;
  if (!isOneOf(all, chosen)) throw new CliError(`--prefix does not search among ${chosen}.`);
  return (await client.search.prefix(text, chosen, where)).value;
}

type Matches = Readonly<
  Record<string, readonly (string | { readonly ID: string; readonly Scope: readonly string[] })[]>
>;

async function print(
  { screen }: Context,
  { Matches, Truncations }: { readonly Matches: Matches; readonly Truncations: object },
): Promise<void> {
  const rows = Object.entries(Matches).flatMap(([context, hits]) =>
    hits.map((hit) =>
      typeof hit === 'string'
        ? [context, oneLine(hit), '-']
        : [context, oneLine(hit.ID), hit.Scope.map(oneLine).join(' / ')],
    ),
  );
  if (rows.length === 0) return screen.line('Nothing is found that your token may list.');
  await screen.table(['Context', 'Name', 'Where'], rows);
  const cut = Object.entries(Truncations).flatMap(([context, isCut]) => (isCut ? [context] : []));
  if (cut.length > 0) await screen.line(`There are more: ${cut.join(', ')}.`);
}
