import { aclRoleEndpoints as contract } from '../../contract/acl-role.ts';
import type { AclRole } from '../../model/acl-role/acl-role.ts';
import { roleListed, shownRole } from '../../model/acl-token/present.ts';
import { createRole, deleteRole, missingRole, updateRole } from '../../server/acl/roles.ts';
import type { ServerContext } from '../../server/context.ts';
import { aclRoles, inScope } from '../../state/tables.ts';
import type { Snapshot, Written } from '../../state/types.ts';
import type { Route } from '../route.ts';
import { serveList, serveRead, serveWrite } from '../serve.ts';
import { namesIn, placedScan, scopeOf } from './acl.ts';

const shown = (role: AclRole, snapshot: Snapshot) => shownRole(role, namesIn(snapshot).policy);

/** Source: docs/contract/access-control.md#roles. */
export function aclRoleRoutes(context: ServerContext): Route[] {
  const written = ({ index, value }: Written<AclRole>) => ({
    index,
    value: shown(value, context.state.read()),
  });
  return [
    ...serveWrite(contract.create, async (input) =>
      written(await createRole(context, scopeOf(input), input.body, input)),
    ),
    ...serveWrite(contract.update, async (input) =>
      written(
        await updateRole(context, scopeOf(input), {
          pathId: input.parameters.role_id!,
          input: input.body,
          linker: input,
        }),
      ),
    ),
    ...serveWrite(contract.delete, (input) =>
      deleteRole(context, scopeOf(input), input.parameters.role_id!),
    ),
    ...serveRead(contract.read, (input) => {
      const id = input.parameters.role_id!.toLowerCase();
      const role = input.snapshot.table(aclRoles).get(...inScope(input, id));
      if (role === undefined) throw missingRole(id, input);
      return shown(role, input.snapshot);
    }),
    ...serveRead(contract.readNamed, (input) => {
      const name = input.parameters.name!;
      const named = input.snapshot.table(aclRoles).by('name');
      for (const role of named.scan({ prefix: inScope(input, name) })) {
        return shown(role, input.snapshot);
      }
      throw missingRole(name, input);
    }),
    ...serveList(contract.list, {
      rows: (input, page) =>
        input.snapshot.table(aclRoles).scan(placedScan(input, page, input.query.prefix)),
      keyOf: ({ Partition, Namespace, ID }: AclRole) => [Partition, Namespace, ID],
      matches: ({ ID: id, Policies }, { query }) =>
        id.startsWith(query.prefix.toLowerCase()) &&
        (query.policy === '' || Policies.some(({ ID }) => ID === query.policy.toLowerCase())),
      record: (role, { snapshot }) => shown(role, snapshot),
      present: (role, { snapshot }) => roleListed(shown(role, snapshot)),
    }),
  ];
}
