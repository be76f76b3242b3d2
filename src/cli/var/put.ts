import type { Context } from '../context.ts';
import { argument, type ClientCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { readText } from '../text-file.ts';
import { guardOf, guardOptions, oneOf, outOf, outOption, printVariable } from './show.ts';
import { forms, type GivenVariable, variableIn } from './variable-file.ts';

export const varPut: ClientCommand = {
  words: ['var', 'put'],
  summary: 'Create a variable, or replace its items.',
  definition: {
    arguments: [
      argument('PATH', 'The path, @FILE that describes the variable, or - for standard input.'),
      argument('KEY=VALUE...', 'Items; KEY=@FILE takes the text of a file.', 'word', false),
    ],
    options: [
      { name: 'in', value: 'FORM', choices: forms, description: 'Format of the description.' },
      outOption,
      ...guardOptions,
      { name: 'force', description: 'Replace an existing variable in any case.' },
    ],
    details: `Without --force, a description with a ModifyIndex is only written if the variable still has that
index. A description without ModifyIndex, or a path, only creates a new variable.
Other users of the machine can see a command line, and it stays in the shell's history, so give
secrets in a file or by standard input.

Examples:
  roster var put roster/jobs/web password=@password.txt
  roster var put @web.hcl
  roster var get -out json roster/jobs/web | jq '.Items.user = "b"' | roster var put -`,
  },
  async run(context, [where = '', ...pairs], options) {
    const form = options.text('in');
    const given = await described(context, where, form && oneOf('in', form, forms));
    const items = { ...given.items, ...(await itemsIn(context, pairs)) };
    const out = outOf(options, context.isJson, 'none');
    const isForced = options.flag('force');
    const asked = guardOf(options);
    if (isForced && asked !== undefined) {
      throw new CliError('--force and --check-index contradict each other.');
    }
    const cas = isForced ? undefined : (asked ?? given.modifyIndex ?? 0);
    const { client, isJson, screen } = context;
    const { path = '', namespace } = given;
    if (path === '') throw new CliError('The description does not tell the path of the variable.');
    const place = context.namespace === undefined ? { namespace } : {};
    const { value } = await client.variables.write(path, items, { cas, ...place });
    if (out === 'none' && !isJson) {
      await screen.line(`The variable ${path} is written, at index ${value.ModifyIndex}.`);
    }
    await printVariable(context, value, out);
    return exitCodes.ok;
  },
};

async function described(
  context: Context,
  where: string,
  form: string | undefined,
): Promise<GivenVariable> {
  const isFile = where.startsWith('@');
  if (!isFile && where !== '-') {
    return { path: where, namespace: undefined, modifyIndex: undefined, items: {} };
  }
  const file = isFile ? where.slice(1) : where;
  const name = isFile ? file : 'Standard input';
  return variableIn(await readText(context, file, 'variable'), name, form);
}

/** Errors never contain the text after the equals sign. */
async function itemsIn(
  context: Context,
  pairs: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const items: Record<string, string> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at <= 0) throw new CliError('Every item must have the form KEY=VALUE, and one has not.');
    const text = pair.slice(at + 1);
    const isFile = text.startsWith('@');
    items[pair.slice(0, at)] = isFile ? await readText(context, text.slice(1), 'item') : text;
  }
  return items;
}
