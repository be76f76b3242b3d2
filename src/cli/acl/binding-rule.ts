import type { BindingRuleWrite, PresentedBindingRule } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { argument, description, type OptionDefinition, verbose } from '../definition.ts';
import { nounList } from '../list-command.ts';
import { nounCommands } from '../noun-commands.ts';
import type { Options } from '../options.ts';
import { oneLine, orDash } from '../render/text.ts';
import { resolveId, withPrefix } from '../resolve-id.ts';

const fields: readonly OptionDefinition[] = [
  description,
  {
    name: 'selector',
    value: 'FILTER',
    isLongText: true,
    description: 'The identities that it applies to, such as "dev" in list.groups. Default: all.',
  },
  {
    name: 'bind-type',
    value: 'TYPE',
    choices: ['service', 'node', 'role', 'policy', 'templated-policy'],
    description: 'The kind of the grant.',
  },
  {
    name: 'bind-name',
    value: 'NAME',
    description: 'Name of the granted record; ${value.team} stands for a value of the identity.',
  },
  { name: 'bind-vars', value: 'NAME', description: 'The variable of a templated policy.' },
];

export const bindingRules = nounCommands<PresentedBindingRule>({
  words: ['acl', 'binding-rule'],
  one: 'a binding rule',
  many: 'the binding rules',
  argument: {
    ...argument('RULE', 'Id of the binding rule, or 8 or more characters of it.'),
    flags: ['id'],
  },
  identify: resolve,
  read: (client, id) => client.bindingRules.read(id),
  print,
  list: nounList({
    request: 'GET /v1/acl/binding-rules',
    query: {
      authmethod: {
        name: 'method',
        value: 'NAME',
        description: 'Only rules of this auth method.',
      },
    },
    options: [verbose],
    empty: 'There are no binding rules.',
    columns: {
      ID: ({ ID }, { id }) => id(ID),
      Method: ({ AuthMethod }) => oneLine(AuthMethod),
      Gives: ({ BindType }) => BindType,
      Name: ({ BindName }) => oneLine(BindName),
      Selector: ({ Selector }) => orDash(oneLine(Selector)),
    },
  }),
  create: {
    arguments: [{ ...argument('METHOD', 'The auth method.'), flags: ['method'] }],
    options: fields,
    write: ({ client }, method, options) =>
      client.bindingRules.create({
        AuthMethod: method!,
        ...givenFields(options),
      }),
  },
  update: {
    options: fields,
    details: 'Fields that are not given stay. The auth method cannot change.',
    write({ client }, { id, record }, options) {
      const { BindVars, ...stored } = record;
      const changed = { ...stored, ...givenFields(options) };
      // Only a templated policy has a variable.
      const isKept = BindVars != null && changed.BindType === 'templated-policy';
      return client.bindingRules.update(id, { ...(isKept && { BindVars }), ...changed });
    },
  },
  delete: {
    run: (client, id) => client.bindingRules.delete(id),
    done: (id) => `Binding rule ${id} deleted.`,
  },
});

function resolve({ client }: Context, given: string): Promise<string> {
  const noun = {
    word: 'binding rule',
    listedBy: 'roster acl binding-rule list',
    list: withPrefix(() => client.bindingRules.list()),
    nameOf: ({ BindType, BindName }: PresentedBindingRule) => `${BindType} ${BindName}`,
  };
  return resolveId(noun, given);
}

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

async function print({ screen }: Context, found: PresentedBindingRule): Promise<void> {
  await screen.fields([
    ['ID', found.ID],
    ['Auth method', oneLine(found.AuthMethod)],
    ['Namespace', oneLine(found.Namespace)],
    ['Selector', orDash(oneLine(found.Selector))],
    ['Gives', `${found.BindType} ${oneLine(found.BindName)}`],
    ...(found.BindVars ? [['Variable', oneLine(found.BindVars.Name)] as const] : []),
    ['Description', orDash(oneLine(found.Description))],
  ]);
}
