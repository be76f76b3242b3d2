import { authMethodEndpoints as contract } from '../../contract/auth-method.ts';
import type { AuthMethod } from '../../model/auth-method/auth-method.ts';
import { authMethodStub, presentedAuthMethod } from '../../model/auth-method/present.ts';
import { resourceAccess } from '../../model/permission/permission.ts';
import {
  createAuthMethod,
  deleteAuthMethod,
  requireAuthMethod,
  updateAuthMethod,
} from '../../server/auth-methods/write.ts';
import type { Server } from '../../server/server.ts';
import { authMethods } from '../../state/tables.ts';
import type { Written } from '../../state/types.ts';
import type { BaseInput, Route } from '../route.ts';
import { serveList, serveRead, serveWrite } from '../serve.ts';
import { placedScan, scopeOf } from './acl.ts';

/** Source: docs/contract/access-control.md#auth-methods. */
export function authMethodRoutes(server: Server): Route[] {
  const context = { ...server.context, keys: server.logins.keys };
  const open = (sealed: string) => context.box.open(sealed);
  const presented = (method: AuthMethod, { allows }: Pick<BaseInput, 'allows'>) => {
    const { Namespace: namespace, Partition: partition } = method;
    const mayRead = allows(resourceAccess('acl', 'write', { namespace, partition }));
    return presentedAuthMethod(method, mayRead ? open : undefined);
  };
  const written = ({ index, value }: Written<AuthMethod>, input: Pick<BaseInput, 'allows'>) => ({
    index,
    value: presented(value, input),
  });
  return [
    ...serveWrite(contract.create, async (input) =>
      written(await createAuthMethod(context, scopeOf(input), input.body), input),
    ),
    ...serveRead(contract.read, (input) => {
      const name = input.parameters.name!;
      return presented(requireAuthMethod(input.snapshot, scopeOf(input), name), input);
    }),
    ...serveWrite(contract.update, async (input) => {
      const name = input.parameters.name!;
      return written(await updateAuthMethod(context, scopeOf(input), name, input.body), input);
    }),
    ...serveWrite(contract.delete, (input) =>
      deleteAuthMethod(context, scopeOf(input), input.parameters.name!),
    ),
    ...serveList(contract.list, {
      rows: (input, page) => input.snapshot.table(authMethods).scan(placedScan(input, page)),
      keyOf: ({ Partition, Namespace, Name }: AuthMethod) => [Partition, Namespace, Name],
      record: authMethodStub,
      present: authMethodStub,
    }),
  ];
}
