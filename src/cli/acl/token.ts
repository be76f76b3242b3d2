import type { PresentedAclToken } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, filterOption, type OptionDefinition, verbose } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { orDash } from '../render/text.ts';
import {
  argument,
  description,
  givenLinks,
  identityOptions,
  ofPolicy,
  policyOption,
  replaces,
  roleOption,
} from './links.ts';
import { deleted, resolvePolicy, resolveRole, resolveToken } from './resolve.ts';
import { linkList, showNewToken, showToken, tokenSink } from './show.ts';

const token = argument('TOKEN', 'Accessor of the token, or 8 or more characters of it.', 'token');
const links: readonly OptionDefinition[] = [policyOption, roleOption, ...identityOptions];

async function print(context: Context, value: PresentedAclToken): Promise<number> {
  if (context.isJson) await context.json(value);
  else await showToken(context, value);
  return exitCodes.ok;
}

export const tokenCreate: ClientCommand = {
  definition: {
    options: [
      description,
      ...links,
      { name: 'ttl', value: 'DURATION', description: 'How long it lives: 1m to 24h.' },
      { name: 'local', description: 'Never replicate it elsewhere.' },
      { name: 'accessor', value: 'UUID', description: 'Its accessor; one is made without it.' },
      { name: 'secret', value: 'UUID', description: 'Its secret; one is made without it.' },
      tokenSink,
    ],
    details: `Examples:
  roster acl token create -description 'deploys' -policy deploy -ttl 8h
  roster acl token create -policy deploy -ttl 8h -token-sink-file deploy.token
  roster acl token create -templated-policy builtin/service:web`,
  },
  async run(context, _words, options) {
    const { value } = await context.client.acl.tokens.create({
      Description: options.text('description') ?? '',
      ...givenLinks(options),
      ...(options.text('ttl') !== undefined && { ExpirationTTL: options.text('ttl') as never }),
      Local: options.flag('local'),
      AccessorID: options.text('accessor') ?? '',
      SecretID: options.text('secret') ?? '',
    });
    return showNewToken(context, value, options);
  },
};

export const tokenRead: ClientCommand = {
  definition: {
    arguments: [
      { ...token, isRequired: false, description: `${token.description} Your own without it.` },
    ],
    options: [{ name: 'expanded', description: 'With every policy that affects it.' }],
  },
  async run(context, [given], options) {
    const { tokens } = context.client.acl;
    const expanded = options.flag('expanded');
    if (given === undefined && !expanded) return print(context, (await tokens.self()).value);
    const accessor =
      given === undefined
        ? (await tokens.self()).value.AccessorID
        : await resolveToken(context, given);
    const { value } = await tokens.read(accessor, { expanded });
    await print(context, value);
    if (context.isJson || !expanded) return exitCodes.ok;
    for (const policy of value.ExpandedPolicies ?? []) {
      await context.screen.title(policy.Name);
      if (policy.Description !== '') await context.screen.line(orDash(policy.Description));
      await context.screen.line(policy.Rules.trimEnd());
    }
    return exitCodes.ok;
  },
};

export const tokenUpdate: ClientCommand = {
  definition: { arguments: [token], options: [description, ...links], details: replaces },
  async run(context, [given], options) {
    const { tokens } = context.client.acl;
    const accessor = await resolveToken(context, given!);
    const { value: before } = await tokens.read(accessor);
    const { value } = await tokens.update(accessor, {
      ...before,
      SecretID: '',
      Description: options.text('description') ?? before.Description,
      ...givenLinks(options),
    });
    return print(context, value);
  },
};

export const tokenClone: ClientCommand = {
  definition: {
    arguments: [token],
    options: [description, tokenSink],
    details: 'The new one has the links of the old one, and ends when that ends.',
  },
  async run(context, [given], options) {
    const accessor = await resolveToken(context, given!);
    const text = options.text('description') ?? '';
    const { value } = await context.client.acl.tokens.clone(accessor, text);
    return showNewToken(context, value, options);
  },
};

export const tokenDelete: ClientCommand = {
  definition: { arguments: [token] },
  async run(context, [given]) {
    const accessor = await resolveToken(context, given!);
    const { value } = await context.client.acl.tokens.delete(accessor);
    await deleted(context, 'token', accessor, value);
    return exitCodes.ok;
  },
};

export const tokenList: ClientCommand = {
  definition: {
    options: [
      ofPolicy,
      { name: 'role', value: 'ROLE', description: 'Only those that link this role.' },
      { name: 'service', value: 'NAME', description: 'Only those with this service identity.' },
      { name: 'auth-method', value: 'NAME', description: 'Only those of logins by this method.' },
      filterOption,
      verbose,
    ],
  },
  async run(context, _words, options) {
    const { client, screen, isJson, json, id } = context;
    const [policy, role] = [options.text('policy'), options.text('role')];
    const { value } = await client.acl.tokens.list({
      policy: policy && (await resolvePolicy(context, policy)),
      role: role && (await resolveRole(context, role)),
      serviceName: options.text('service'),
      authMethod: options.text('authMethod'),
      filter: options.text('filter'),
    });
    if (isJson) await json(value);
    else if (value.length === 0) await screen.line('There are no such tokens.');
    else {
      await screen.table(
        ['Accessor', 'Description', 'Policies', 'Roles', 'Local', 'Expires'],
        value.map((one) => [
          ...[id(one.AccessorID), orDash(one.Description)],
          ...[linkList(one.Policies), linkList(one.Roles)],
          ...[String(one.Local), one.ExpirationTime ?? 'never'],
        ]),
      );
    }
    return exitCodes.ok;
  },
};
