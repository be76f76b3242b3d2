import type { PresentedAclRole } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, filterOption, verbose } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { oneLine, orDash } from '../render/text.ts';
import {
  argument,
  description,
  givenLinks,
  identityOptions,
  ofPolicy,
  policyOption,
  replaces,
} from './links.ts';
import { deleted, resolvePolicy, resolveRole } from './resolve.ts';
import { linkList, showRole } from './show.ts';

const role = argument('ROLE', 'Its name, its id, or 8 or more characters of the id.', 'role');

async function print(context: Context, value: PresentedAclRole): Promise<number> {
  if (context.isJson) await context.json(value);
  else await showRole(context, value);
  return exitCodes.ok;
}

export const roleCreate: ClientCommand = {
  definition: {
    arguments: [argument('NAME', 'Its name.')],
    options: [description, policyOption, ...identityOptions],
  },
  async run(context, [Name], options) {
    const { value } = await context.client.acl.roles.create({
      Name: Name!,
      Description: options.text('description') ?? '',
      ...givenLinks(options),
    });
    return print(context, value);
  },
};

export const roleRead: ClientCommand = {
  definition: { arguments: [role] },
  async run(context, [given]) {
    const id = await resolveRole(context, given!);
    return print(context, (await context.client.acl.roles.read(id)).value);
  },
};

export const roleUpdate: ClientCommand = {
  definition: {
    arguments: [role],
    options: [
      { name: 'name', value: 'NAME', description: 'Its new name; what links it goes along.' },
      ...[description, policyOption, ...identityOptions],
    ],
    details: replaces,
  },
  async run(context, [given], options) {
    const { roles } = context.client.acl;
    const id = await resolveRole(context, given!);
    const { value: before } = await roles.read(id);
    const { value } = await roles.update(id, {
      ...before,
      Name: options.text('name') ?? before.Name,
      Description: options.text('description') ?? before.Description,
      ...givenLinks(options),
    });
    return print(context, value);
  },
};

export const roleDelete: ClientCommand = {
  definition: { arguments: [role], details: 'What links it goes on without it.' },
  async run(context, [given]) {
    const id = await resolveRole(context, given!);
    const { value } = await context.client.acl.roles.delete(id);
    await deleted(context, 'role', id, value);
    return exitCodes.ok;
  },
};

export const roleList: ClientCommand = {
  definition: {
    options: [ofPolicy, filterOption, verbose],
  },
  async run(context, _words, options) {
    const { client, screen, isJson, json, id } = context;
    const policy = options.text('policy');
    const { value } = await client.acl.roles.list({
      policy: policy && (await resolvePolicy(context, policy)),
      filter: options.text('filter'),
    });
    if (isJson) await json(value);
    else if (value.length === 0) await screen.line('There are no such roles.');
    else {
      await screen.table(
        ['ID', 'Name', 'Policies', 'Description'],
        value.map((one) => [
          ...[id(one.ID), oneLine(one.Name), linkList(one.Policies), orDash(one.Description)],
        ]),
      );
    }
    return exitCodes.ok;
  },
};
