import { loginEndpoints as contract } from '../../contract/login.ts';
import type { AclToken } from '../../model/acl-token/acl-token.ts';
import { shownToken } from '../../model/acl-token/present.ts';
import { type Fault, invalid } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Server } from '../../server/server.ts';
import type { Written } from '../../state/types.ts';
import type { Route } from '../route.ts';
import { serveWrite } from '../serve.ts';
import { namesIn, scopeOf } from './acl.ts';

const { metaEntriesMax, metaTextLengthMax } = limits.aclLogin;

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
    ...serveWrite(contract.login, async (input) => {
      const { AuthMethod = '', BearerToken = '' } = input.body;
      const request = { authMethod: AuthMethod, bearerToken: BearerToken, meta: metaOf(input) };
      return shown(await logins.login(scopeOf(input), request, input.address()));
    }),
    ...serveWrite(contract.logout, ({ caller }) =>
      logins.logout(caller.kind === 'token' ? caller.accessor : undefined),
    ),
    ...serveWrite(contract.oidcAuthUrl, async (input) => {
      const { AuthMethod = '', RedirectURI = '', ClientNonce = '' } = input.body;
      const request = {
        authMethod: AuthMethod,
        redirectUri: RedirectURI,
        clientNonce: ClientNonce,
        meta: metaOf(input),
      };
      const AuthURL = await logins.oidcAuthUrl(scopeOf(input), request, input.address());
      return { value: { AuthURL } };
    }),
    ...serveWrite(contract.oidcCallback, async (input) => {
      const { AuthMethod = '', State = '', Code = '', ClientNonce = '', Issuer } = input.body;
      const request = {
        authMethod: AuthMethod,
        state: State,
        code: Code,
        clientNonce: ClientNonce,
        issuer: Issuer || undefined,
      };
      return shown(await logins.oidcCallback(scopeOf(input), request, input.address()));
    }),
  ];
}

/** Meta becomes part of the token's description. @throws RosterError `invalid-body` */
function metaOf({
  body,
}: {
  readonly body: { readonly Meta?: Readonly<Record<string, string | undefined>> | null };
}): Readonly<Record<string, string>> {
  const meta = (body.Meta ?? {}) as Readonly<Record<string, string>>;
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
