import { formatInstant, instantToMs } from '../../base/instant.ts';
import { argument } from '../acl/links.ts';
import { type ClientCommand, filterOption, type LocalCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { oneLine } from '../render/text.ts';
import { guardOf, guardOptions, oneOf, outOf, outOption, printVariable } from './show.ts';
import { forms, variableExample, variableExampleJson } from './variable-file.ts';

const path = argument('PATH', 'Path of the variable.');

export const varGet: ClientCommand = {
  definition: {
    arguments: [path],
    options: [
      outOption,
      { name: 'item', value: 'KEY', description: 'Print the text of this item, and no more.' },
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

export const varList: ClientCommand = {
  definition: {
    arguments: [argument('PREFIX', 'The beginning of the path.', 'word', false)],
    options: [filterOption],
    details: "What is in them is never listed. --namespace '*' lists those of all namespaces.",
  },
  async run({ client, screen, isJson, json, namespace }, [prefix], options) {
    const { value } = await client.variables.list({ prefix, filter: options.text('filter') });
    if (isJson) await json(value);
    else if (value.length === 0) await screen.line('There are no variables.');
    else {
      const isEvery = namespace === '*';
      await screen.table(
        [...(isEvery ? ['Namespace'] : []), 'Path', 'Index', 'Modified'],
        value.map((one) => [
          ...(isEvery ? [oneLine(one.Namespace)] : []),
          oneLine(one.Path),
          String(one.ModifyIndex),
          formatInstant(instantToMs(one.ModifyTime)),
        ]),
      );
    }
    return exitCodes.ok;
  },
};

export const varPurge: ClientCommand = {
  definition: { arguments: [path], options: guardOptions },
  async run({ client, screen, isJson, json }, [where = ''], options) {
    const { value } = await client.variables.delete(where, { cas: guardOf(options) });
    if (isJson) await json(value);
    else if (value) await screen.line(`The variable ${where} is deleted.`);
    if (!value) throw new CliError(`There is no variable ${where}.`);
    return exitCodes.ok;
  },
};

export const varInit: LocalCommand = {
  definition: {
    arguments: [argument('FILE', 'Where to write it; spec.var.hcl when not given.', 'file', false)],
    options: [{ name: 'out', value: 'FORM', choices: forms, description: 'What to write it in.' }],
    details: 'A file that is there is never overwritten.',
  },
  async runLocally({ stdout, writeFile }, [file], options) {
    const form = oneOf('out', options.text('out') ?? 'hcl', forms);
    const name = file ?? `spec.var.${form}`;
    try {
      await writeFile(name, form === 'hcl' ? variableExample : variableExampleJson, 'new');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = code === 'EEXIST' ? 'it is there already' : message;
      throw new CliError(`"${name}" cannot be written: ${reason}.`);
    }
    await stdout.write(
      `${name} is written. Fill it in, and put it with "roster var put @${name}".\n`,
    );
    return exitCodes.ok;
  },
};
