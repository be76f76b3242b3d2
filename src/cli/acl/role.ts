import type { PresentedAclRole } from '../../sdk/client.ts';
import { argument, description, type OptionDefinition, verbose } from '../definition.ts';
import { nounList } from '../list-command.ts';
import { nounCommands } from '../noun-commands.ts';
import { oneLine, orDash } from '../render/text.ts';
import { givenLinks, identityOptions, newName, policyOption, replaces } from './links.ts';
import { resolvePolicy, resolveRole } from './resolve.ts';
import { linkList, showRole } from './show.ts';

const fields: readonly OptionDefinition[] = [description, policyOption, ...identityOptions];

export const roles = nounCommands<PresentedAclRole>({
  words: ['acl', 'role'],
  one: 'a role',
  many: 'the roles',
  argument: {
    ...argument('ROLE', 'Its name, its id, or 8 or more characters of the id.', 'role'),
    flags: ['name', 'id'],
  },
  identify: resolveRole,
  read: (client, id) => client.acl.roles.read(id),
  print: showRole,
  list: nounList({
    request: 'GET /v1/acl/roles',
    query: {
      policy: {
        value: 'POLICY',
        description: 'Only roles with a link to this policy.',
        resolve: resolvePolicy,
      },
    },
    options: [verbose],
    empty: 'There are no such roles.',
    columns: {
      ID: ({ ID }, { id }) => id(ID),
      Name: ({ Name }) => oneLine(Name),
      Policies: ({ Policies }) => linkList(Policies),
      Description: ({ Description }) => orDash(Description),
    },
  }),
  create: {
    arguments: [{ ...argument('NAME', 'Its name.'), flags: ['name'] }],
    options: fields,
    write: ({ client }, Name, options) =>
      client.acl.roles.create({
        Name: Name!,
        Description: options.text('description') ?? '',
        ...givenLinks(options),
      }),
  },
  update: {
    options: [newName, ...fields],
    details: replaces,
    write: ({ client }, { id, record }, options) =>
      client.acl.roles.update(id, {
        ...record,
        Name: options.text('name') ?? record.Name,
        Description: options.text('description') ?? record.Description,
        ...givenLinks(options),
      }),
  },
  delete: {
    details: 'Tokens that link to it keep their other links.',
    run: (client, id) => client.acl.roles.delete(id),
  },
});
