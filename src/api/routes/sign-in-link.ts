import { formatInstant } from '../../base/instant.ts';
import { signInLinkEndpoints as contract } from '../../contract/sign-in-link.ts';
import { shownToken } from '../../model/acl-token/present.ts';
import { invalid, refusal } from '../../model/errors.ts';
import type { Server } from '../../server/server.ts';
import { isLoopback } from '../http-server.ts';
import type { Input, Route } from '../route.ts';
import { serveWrite } from '../serve.ts';
import { namesIn } from './acl.ts';

/** Source: docs/behaviour/access-control.md#links-to-the-web-interface. */
export function signInLinkRoutes(server: Server): Route[] {
  const { context, logins } = server;
  return [
    ...serveWrite(contract.create, async ({ caller, body }) => {
      if (caller.kind !== 'token') {
        throw refusal('token-needed', { act: 'make a link to the web interface' });
      }
      const LoopbackOnly = body.LoopbackOnly ?? false;
      const { secret, expireMs } = logins.links.make(caller.accessor, LoopbackOnly);
      return { value: { Secret: secret, LoopbackOnly, ExpirationTime: formatInstant(expireMs) } };
    }),
    ...serveWrite(contract.use, async (input) => {
      const secret = (input.body.Secret ?? '').trim();
      if (secret === '') {
        throw invalid('invalid-body', [{ pointer: '/Secret', message: 'Secret is required' }]);
      }
      const origin = { address: input.address(), isLoopback: isOfThisMachine(input) };
      const { index, value } = await logins.links.use(secret, origin);
      return {
        index,
        made: { accessor: value.AccessorID, link: value.Description },
        value: {
          ...shownToken(value, namesIn(context.state.read())),
          SecretID: context.box.open(value.SecretSealed),
        },
      };
    }),
    ...serveWrite(contract.signOut, ({ caller }) =>
      logins.links.signOut(caller.kind === 'token' ? caller.accessor : undefined),
    ),
  ];
}

/** A proxy on this machine passes on requests from elsewhere. */
const isOfThisMachine = ({ address, header }: Pick<Input, 'address' | 'header'>): boolean =>
  (address() === '' || isLoopback(address())) &&
  header('x-forwarded-for') === '' &&
  header('forwarded') === '';
