import { formatInstant, instantToMs } from '../../base/instant.ts';
import { argument, type ClientCommand, type LocalCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { listCommand } from '../list-command.ts';
import { printDeleted } from '../noun-commands.ts';
import { oneLine } from '../render/text.ts';
import { guardOf, guardOptions, oneOf, outOf, outOption, printVariable } from './show.ts';
import { forms, variableExample, variableExampleJson } from './variable-file.ts';

const path = argument('PATH', 'Path of the variable.');

export const varGet: ClientCommand = {
  words: ['var', 'get'],
  summary: 'Read a variable.',
  definition: {
    isPaged: true,
    arguments: [path],
    options: [
      outOption,
      { name: 'item', value: 'KEY', description: 'Print only the text of this item.' },
    ],
  },
  async run(context, [where = ''], options) {
    const { client, environment, isJson } = context;
    const out = outOf(options, isJson);
    const { value } = await client.variables.read(where);
    const item = options.text('item');
    if (item === undefined) await printVariable(context, value, out);
    else if (Object.hasOwn(value.Items, item)) await environment.stdout.write(value.Items[item]!);
    else throw new CliError(`The variable ${where} has no item "${item}".`);
    return exitCodes.ok;
  },
};

export const varList = listCommand({
  words: ['var', 'list'],
  summary: 'List variables, without their items.',
  request: 'GET /v1/vars',
  argument: {
    parameter: 'prefix',
    definition: argument('PREFIX', 'The beginning of the path.', 'word', false),
  },
  details: "A list never shows items. --namespace '*' lists the variables of all namespaces.",
  empty: 'There are no variables.',
  columns: ({ namespace }) => ({
    ...(namespace === '*' && { Namespace: ({ Namespace }) => oneLine(Namespace) }),
    Path: ({ Path }) => oneLine(Path),
    Index: ({ ModifyIndex }) => String(ModifyIndex),
    Modified: ({ ModifyTime }) => formatInstant(instantToMs(ModifyTime)),
  }),
});

export const varPurge: ClientCommand = {
  words: ['var', 'purge'],
  summary: 'Delete a variable.',
  definition: {
    confirms: ([where]) => `Delete the variable "${where}"?`,
    arguments: [path],
    options: guardOptions,
  },
  async run(context, [where = ''], options) {
    const { value } = await context.client.variables.delete(where, { cas: guardOf(options) });
    return printDeleted(context, { word: 'variable', name: where, wasThere: value });
  },
};

export const varInit: LocalCommand = {
  words: ['var', 'init'],
  summary: 'Write an example of a variable file.',
  definition: {
    arguments: [argument('FILE', 'The file to write; spec.var.hcl by default.', 'file', false)],
    options: [{ name: 'out', value: 'FORM', choices: forms, description: 'Format of the file.' }],
    details: 'An existing file is never overwritten.',
  },
  async runLocally({ stdout, writeFile }, [file], options) {
    const form = oneOf('out', options.text('out') ?? 'hcl', forms);
    const name = file ?? `spec.var.${form}`;
    try {
      await writeFile(name, form === 'hcl' ? variableExample : variableExampleJson, 'new');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = code === 'EEXIST' ? 'it exists already' : message;
      throw new CliError(`"${name}" cannot be written: ${reason}.`);
    }
    await stdout.write(
      `${name} is written. Fill it in, and put it with "roster var put @${name}".\n`,
    );
    return exitCodes.ok;
  },
};
