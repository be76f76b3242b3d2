import { type AclToken, AclTokenSchema } from '../../model/acl-token/acl-token.ts';
import { shownToken } from '../../model/acl-token/present.ts';
import { type Fault, invalid } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { open } from '../../model/permission/permission.ts';
import { Text, TextMap, Type } from '../../model/schema.ts';
import type { Server } from '../../server/server.ts';
import type { Written } from '../../state/types.ts';
import { type Input, type Route, writeRoute } from '../route.ts';
import { namesIn, requireAcl, scopeOf } from './acl.ts';

const { metaEntriesMax, metaTextLengthMax } = limits.aclLogin;

const placed = { Namespace: Text(), Partition: Text() };

const LoginSchema = Type.Object({
  AuthMethod: Text(),
  BearerToken: Text(),
  Meta: TextMap(),
  ...placed,
});
const AuthUrlSchema = Type.Object({
  AuthMethod: Text(),
  RedirectURI: Text(),
  ClientNonce: Text(),
  Meta: TextMap(),
  ...placed,
});
const CallbackSchema = Type.Object({
  AuthMethod: Text(),
  State: Text(),
  Code: Text(),
  ClientNonce: Text(),
  /** `iss` of the redirect, where the provider gave one. */
  Issuer: Text(),
  ...placed,
});

type Body = Readonly<Record<string, string | undefined>> & {
  readonly Meta?: Readonly<Record<string, string>>;
};
type Login = Input<Record<never, never>, Body>;

const [family, noun] = ['registry', 'login'] as const;

/** Nobody yet, or whoever it is: a login asks for no permission, but for access control. */
const anybody = (input: Pick<Input, 'caller'>) => {
  requireAcl(input);
  return open;
};

/** Source: docs/behaviour/access-control.md#logging-in-and-out. */
export function loginRoutes(server: Server): Route[] {
  const { context, logins } = server;
  const shown = ({ index, value }: Written<AclToken>) => ({
    index,
    made: { accessor: value.AccessorID, authMethod: value.AuthMethod },
    value: {
      ...shownToken(value, namesIn(context.state.read())),
      SecretID: context.box.open(value.SecretSealed),
    },
  });
  return [
    writeRoute({
      ...{ method: 'POST', path: '/v1/acl/login', noun, family },
      summary: 'Log in with a credential that an auth method accepts',
      body: { schema: LoginSchema, unknown: 'refuse' },
      answer: AclTokenSchema,
      permission: anybody,
      takesOldTokens: true,
      handle: async (input: Login) => {
        const { AuthMethod = '', BearerToken = '' } = input.body;
        const request = { authMethod: AuthMethod, bearerToken: BearerToken, meta: metaOf(input) };
        return shown(await logins.login(scopeOf(input), request, input.address()));
      },
    }),
    writeRoute({
      ...{ method: 'POST', path: '/v1/acl/logout', noun, family },
      summary: 'End the token of a login',
      answer: Type.Boolean(),
      permission: anybody,
      handle: ({ caller }) => logins.logout(caller.kind === 'token' ? caller.accessor : undefined),
    }),
    writeRoute({
      ...{ method: 'POST', path: '/v1/acl/oidc/auth-url', noun, family },
      summary: 'Begin a login with a browser',
      body: { schema: AuthUrlSchema, unknown: 'refuse' },
      answer: Type.Object({ AuthURL: Text() }),
      permission: anybody,
      takesOldTokens: true,
      handle: async (input: Login) => {
        const { AuthMethod = '', RedirectURI = '', ClientNonce = '' } = input.body;
        const request = {
          ...{ authMethod: AuthMethod, redirectUri: RedirectURI, clientNonce: ClientNonce },
          meta: metaOf(input),
        };
        const AuthURL = await logins.oidcAuthUrl(scopeOf(input), request, input.address());
        return { value: { AuthURL } };
      },
    }),
    writeRoute({
      ...{ method: 'POST', path: '/v1/acl/oidc/callback', noun, family },
      summary: 'Finish a login with a browser',
      body: { schema: CallbackSchema, unknown: 'refuse' },
      answer: AclTokenSchema,
      permission: anybody,
      takesOldTokens: true,
      handle: async (input: Login) => {
        const { AuthMethod = '', State = '', Code = '', ClientNonce = '', Issuer } = input.body;
        const request = {
          ...{ authMethod: AuthMethod, state: State, code: Code, clientNonce: ClientNonce },
          issuer: Issuer || undefined,
        };
        return shown(await logins.oidcCallback(scopeOf(input), request, input.address()));
      },
    }),
  ];
}

/** It becomes part of the token's description. @throws RosterError `invalid-body` */
function metaOf({ body }: Login): Readonly<Record<string, string>> {
  const meta = body.Meta ?? {};
  const entries = Object.entries(meta);
  const faults: Fault[] = [];
  if (entries.length > metaEntriesMax) {
    faults.push({ pointer: '/Meta', message: `Meta must have at most ${metaEntriesMax} entries` });
  }
  if (entries.some((texts) => texts.some((text) => text.length > metaTextLengthMax))) {
    const message = `Meta must hold texts of at most ${metaTextLengthMax} characters`;
    faults.push({ pointer: '/Meta', message });
  }
  if (faults.length > 0) throw invalid('invalid-body', faults);
  return meta;
}
