import type { BindingRuleWrite, PresentedBindingRule } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import {
  type ArgumentDefinition,
  type ClientCommand,
  type OptionDefinition,
  verbose,
} from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import type { Options } from '../options.ts';
import { oneLine, orDash } from '../render/text.ts';
import { resolveId } from '../resolve-id.ts';

const rule: ArgumentDefinition = {
  name: 'RULE',
  kind: 'word',
  isRequired: true,
  description: 'Id of the binding rule, or 8 or more characters of it.',
};

const fields: readonly OptionDefinition[] = [
  { name: 'description', value: 'TEXT', description: 'What it is for.' },
  {
    name: 'selector',
    value: 'FILTER',
    description: 'Whom it is for: "dev" in list.groups. Everybody when it is not given.',
  },
  {
    name: 'bind-type',
    value: 'TYPE',
    choices: ['service', 'node', 'role', 'policy', 'templated-policy'],
    description: 'What it gives.',
  },
  {
    name: 'bind-name',
    value: 'NAME',
    description: 'Its name; ${value.team} stands for what the identity says.',
  },
  { name: 'bind-vars', value: 'NAME', description: 'The variable of a templated policy.' },
];

export const bindingRuleCreate: ClientCommand = {
  definition: {
    options: [{ name: 'method', value: 'NAME', description: 'The auth method.' }, ...fields],
  },
  async run(context, _words, options) {
    const AuthMethod = options.text('method') ?? '';
    const written = { AuthMethod, ...givenFields(options) };
    const { value } = await context.client.bindingRules.create(written);
    return show(context, value);
  },
};

export const bindingRuleUpdate: ClientCommand = {
  definition: {
    arguments: [rule],
    options: fields,
    details: 'What is not given stays as it is. The auth method cannot change.',
  },
  async run(context, [given], options) {
    const id = await resolve(context, given!);
    const { BindVars, ...stored } = (await context.client.bindingRules.read(id)).value;
    const changed = { ...stored, ...givenFields(options) };
    // The variable of a template goes when the rule gives something else from now on.
    const isKept = BindVars != null && changed.BindType === 'templated-policy';
    const { value } = await context.client.bindingRules.update(id, {
      ...(isKept && { BindVars }),
      ...changed,
    });
    return show(context, value);
  },
};

export const bindingRuleRead: ClientCommand = {
  definition: { arguments: [rule] },
  async run(context, [given]) {
    const id = await resolve(context, given!);
    const { value } = await context.client.bindingRules.read(id);
    return show(context, value);
  },
};

export const bindingRuleDelete: ClientCommand = {
  definition: { arguments: [rule] },
  async run(context, [given]) {
    const id = await resolve(context, given!);
    const { value } = await context.client.bindingRules.delete(id);
    if (!value) throw new CliError(`There is no binding rule ${id}.`);
    if (context.isJson) await context.json(value);
    else await context.screen.line(`Binding rule ${id} deleted.`);
    return exitCodes.ok;
  },
};

export const bindingRuleList: ClientCommand = {
  definition: {
    options: [
      { name: 'method', value: 'NAME', description: 'Only those of this auth method.' },
      verbose,
    ],
  },
  async run(context, _words, options) {
    const authMethod = options.text('method');
    const { value } = await context.client.bindingRules.list({ authMethod });
    if (context.isJson) {
      await context.json(value);
    } else if (value.length === 0) {
      await context.screen.line('There are no binding rules.');
    } else {
      const rows = value.map((one) => [
        context.id(one.ID),
        oneLine(one.AuthMethod),
        one.BindType,
        oneLine(one.BindName),
        orDash(oneLine(one.Selector)),
      ]);
      await context.screen.table(['ID', 'Method', 'Gives', 'Name', 'Selector'], rows);
    }
    return exitCodes.ok;
  },
};

const resolve = ({ client }: Context, given: string): Promise<string> =>
  resolveId(
    {
      word: 'binding rule',
      listedBy: 'roster acl binding-rule list',
      list: async ({ prefix = '', ...options } = {}) => {
        const answer = await client.bindingRules.list(options);
        return { ...answer, value: answer.value.filter(({ ID }) => ID.startsWith(prefix)) };
      },
      nameOf: ({ BindType, BindName }) => `${BindType} ${BindName}`,
    },
    given,
  );

function givenFields(options: Options): Partial<BindingRuleWrite> {
  const variable = options.text('bindVars');
  const texts = {
    Description: options.text('description'),
    Selector: options.text('selector'),
    BindType: options.text('bindType'),
    BindName: options.text('bindName'),
  };
  const given = Object.entries(texts).filter(([, text]) => text !== undefined);
  return {
    ...Object.fromEntries(given),
    ...(variable !== undefined && { BindVars: { Name: variable.replace(/^name=/i, '') } }),
  };
}

async function show(context: Context, found: PresentedBindingRule): Promise<number> {
  if (context.isJson) {
    await context.json(found);
    return exitCodes.ok;
  }
  await context.screen.fields([
    ['ID', found.ID],
    ['Auth method', oneLine(found.AuthMethod)],
    ['Namespace', oneLine(found.Namespace)],
    ['Selector', orDash(oneLine(found.Selector))],
    ['Gives', `${found.BindType} ${oneLine(found.BindName)}`],
    ...(found.BindVars ? [['Variable', oneLine(found.BindVars.Name)] as const] : []),
    ['Description', orDash(oneLine(found.Description))],
  ]);
  return exitCodes.ok;
}
