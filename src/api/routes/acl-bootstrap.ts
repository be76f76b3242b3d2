import { aclBootstrapEndpoints as contract } from '../../contract/acl-token.ts';
import { shownToken } from '../../model/acl-token/present.ts';
import { type BootstrapReset, bootstrap } from '../../server/acl/bootstrap.ts';
import type { ServerContext } from '../../server/context.ts';
import type { Route } from '../route.ts';
import { serveWrite } from '../serve.ts';
import { namesIn } from './acl.ts';

/** Source: docs/behaviour/access-control.md#the-first-token. */
export function aclBootstrapRoutes(context: ServerContext, reset: BootstrapReset): Route[] {
  return [
    ...serveWrite(contract.bootstrap, async ({ body }) => {
      const { index, value } = await bootstrap(context, reset, body.BootstrapSecret ?? '');
      const SecretID = context.box.open(value.SecretSealed);
      const shown = shownToken(value, namesIn(context.state.read()));
      return { index, value: { ID: SecretID, ...shown, SecretID } };
    }),
  ];
}
