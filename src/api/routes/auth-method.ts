import {
  type AuthMethod,
  AuthMethodAnswerSchema,
  AuthMethodSchema,
  AuthMethodStubSchema,
} from '../../model/auth-method/auth-method.ts';
import { authMethodStub, presentedAuthMethod } from '../../model/auth-method/present.ts';
import { resourceAccess } from '../../model/permission/permission.ts';
import { Type } from '../../model/schema.ts';
import {
  type AuthMethodRequest,
  createAuthMethod,
  deleteAuthMethod,
  requireAuthMethod,
  updateAuthMethod,
} from '../../server/auth-methods/write.ts';
import type { Server } from '../../server/server.ts';
import { authMethods } from '../../state/tables.ts';
import type { Written } from '../../state/types.ts';
import { type Input, listRoute, type Route, readRoute, type Scope, writeRoute } from '../route.ts';
import { aclList, aclRead, aclVisible, aclWrite, placedScan, scopeOf } from './acl.ts';

type Write = Input<Record<never, never>, AuthMethodRequest>;

const [family, noun] = ['registry', 'auth-method'] as const;
const body = { schema: AuthMethodSchema, unknown: 'refuse' } as const;
const path = '/v1/acl/auth-method/:name';

/** Source: docs/contract/access-control.md#auth-methods. */
export function authMethodRoutes(server: Server): Route[] {
  const context = { ...server.context, keys: server.logins.keys };
  const open = (sealed: string) => context.box.open(sealed);
  const presented = (method: AuthMethod, { allows }: Pick<Scope, 'allows'>) => {
    const { Namespace: namespace, Partition: partition } = method;
    const mayRead = allows(resourceAccess('acl', 'write', { namespace, partition }));
    return presentedAuthMethod(method, mayRead ? open : undefined);
  };
  const written = ({ index, value }: Written<AuthMethod>, input: Write) => ({
    index,
    value: presented(value, input),
  });
  return [
    writeRoute({
      ...{ method: 'PUT', path: '/v1/acl/auth-method', noun, family, body },
      summary: 'Create an auth method',
      answer: AuthMethodAnswerSchema,
      permission: aclWrite,
      handle: async (input: Write) =>
        written(await createAuthMethod(context, scopeOf(input), input.body), input),
    }),
    readRoute({
      ...{ method: 'GET', path, noun, family },
      summary: 'Read an auth method',
      blocking: true,
      answer: AuthMethodAnswerSchema,
      permission: aclRead,
      handle: (input) => {
        const name = input.parameters.name!;
        return presented(requireAuthMethod(input.snapshot, scopeOf(input), name), input);
      },
    }),
    writeRoute({
      ...{ method: 'PUT', path, noun, family, body },
      summary: 'Replace an auth method',
      answer: AuthMethodAnswerSchema,
      permission: aclWrite,
      handle: async (input: Write) => {
        const name = input.parameters.name!;
        return written(await updateAuthMethod(context, scopeOf(input), name, input.body), input);
      },
    }),
    writeRoute({
      ...{ method: 'DELETE', path, noun, family },
      summary: 'Delete an auth method, its binding rules and its tokens',
      answer: Type.Boolean(),
      permission: aclWrite,
      handle: (input) => deleteAuthMethod(context, scopeOf(input), input.parameters.name!),
    }),
    listRoute({
      ...{ method: 'GET', path: '/v1/acl/auth-methods', noun, family },
      summary: 'List auth methods',
      blocking: true,
      answer: AuthMethodStubSchema,
      filterSchema: AuthMethodStubSchema,
      permission: aclList,
      rows: (input, page) => input.snapshot.table(authMethods).scan(placedScan(input, page)),
      keyOf: ({ Partition, Namespace, Name }: AuthMethod) => [Partition, Namespace, Name],
      visible: aclVisible,
      record: authMethodStub,
      present: authMethodStub,
    }),
  ];
}
