import { type AclRole, AclRoleSchema, ListedAclRoleSchema } from '../../model/acl-role/acl-role.ts';
import type { RoleRequest } from '../../model/acl-role/write.ts';
import { roleListed, shownRole } from '../../model/acl-token/present.ts';
import { Type } from '../../model/schema.ts';
import { createRole, deleteRole, missingRole, updateRole } from '../../server/acl/roles.ts';
import type { ServerContext } from '../../server/context.ts';
import { aclRoles, inScope } from '../../state/tables.ts';
import type { Snapshot, Written } from '../../state/types.ts';
import { type Input, listRoute, type Route, readRoute, writeRoute } from '../route.ts';
import {
  aclList,
  aclRead,
  aclVisible,
  aclWrite,
  namesIn,
  placedScan,
  prefixQuery,
  scopeOf,
} from './acl.ts';

type RoleWrite = Input<Record<never, never>, RoleRequest>;

const family = 'registry';
const body = { schema: AclRoleSchema, unknown: 'refuse', checkValues: false } as const;

const shown = (role: AclRole, snapshot: Snapshot) => shownRole(role, namesIn(snapshot).policy);

/** Source: docs/contract/access-control.md#roles. */
export function aclRoleRoutes(context: ServerContext): Route[] {
  const written = ({ index, value }: Written<AclRole>) => ({
    index,
    value: shown(value, context.state.read()),
  });
  return [
    writeRoute({
      ...{ method: 'PUT', path: '/v1/acl/role', noun: 'acl-role', family, body },
      summary: 'Create a role',
      answer: AclRoleSchema,
      permission: aclWrite,
      handle: async (input: RoleWrite) =>
        written(await createRole(context, scopeOf(input), input.body, input)),
    }),
    writeRoute({
      ...{ method: 'PUT', path: '/v1/acl/role/:role_id', noun: 'acl-role', family, body },
      summary: 'Replace a role',
      answer: AclRoleSchema,
      permission: aclWrite,
      handle: async (input: RoleWrite) =>
        written(
          await updateRole(context, scopeOf(input), input.parameters.role_id!, input.body, input),
        ),
    }),
    writeRoute({
      ...{ method: 'DELETE', path: '/v1/acl/role/:role_id', noun: 'acl-role', family },
      summary: 'Delete a role',
      answer: Type.Boolean(),
      permission: aclWrite,
      handle: (input) => deleteRole(context, scopeOf(input), input.parameters.role_id!),
    }),
    readRoute({
      ...{ method: 'GET', path: '/v1/acl/role/:role_id', noun: 'acl-role', family },
      summary: 'Read a role',
      blocking: true,
      answer: AclRoleSchema,
      permission: aclRead,
      handle: (input) => {
        const id = input.parameters.role_id!.toLowerCase();
        const role = input.snapshot.table(aclRoles).get(...inScope(input, id));
        if (role === undefined) throw missingRole(id, input);
        return shown(role, input.snapshot);
      },
    }),
    readRoute({
      ...{ method: 'GET', path: '/v1/acl/role/name/:name', noun: 'acl-role', family },
      summary: 'Read a role by its name',
      blocking: true,
      answer: AclRoleSchema,
      permission: aclRead,
      handle: (input) => {
        const name = input.parameters.name!;
        const named = input.snapshot.table(aclRoles).by('name');
        for (const role of named.scan({ prefix: inScope(input, name) })) {
          return shown(role, input.snapshot);
        }
        throw missingRole(name, input);
      },
    }),
    listRoute({
      ...{ method: 'GET', path: '/v1/acl/roles', noun: 'acl-role', family },
      summary: 'List roles',
      blocking: true,
      query: {
        ...prefixQuery,
        policy: { kind: 'string', default: '', description: 'Id of a policy that they link.' },
      },
      answer: ListedAclRoleSchema,
      filterSchema: AclRoleSchema,
      permission: aclList,
      rows: (input, page) =>
        input.snapshot.table(aclRoles).scan(placedScan(input, page, input.query.prefix)),
      keyOf: ({ Partition, Namespace, ID }: AclRole) => [Partition, Namespace, ID],
      matches: ({ ID: id, Policies }, { query }) =>
        id.startsWith(query.prefix.toLowerCase()) &&
        (query.policy === '' || Policies.some(({ ID }) => ID === query.policy.toLowerCase())),
      visible: aclVisible,
      record: (role, { snapshot }) => shown(role, snapshot),
      present: (role, { snapshot }) => roleListed(shown(role, snapshot)),
    }),
  ];
}
