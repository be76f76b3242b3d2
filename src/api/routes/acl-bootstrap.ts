import { AclTokenSchema } from '../../model/acl-token/acl-token.ts';
import { shownToken } from '../../model/acl-token/present.ts';
import { open } from '../../model/permission/permission.ts';
import { Text, Type } from '../../model/schema.ts';
import { type BootstrapReset, bootstrap } from '../../server/acl/bootstrap.ts';
import type { ServerContext } from '../../server/context.ts';
import { type Input, type Route, writeRoute } from '../route.ts';
import { namesIn, requireAcl } from './acl.ts';

/** Source: docs/behaviour/access-control.md#the-first-token. */
export function aclBootstrapRoutes(context: ServerContext, reset: BootstrapReset): Route[] {
  return [
    writeRoute({
      ...{ method: 'PUT', path: '/v1/acl/bootstrap', noun: 'acl-token', family: 'registry' },
      summary: 'Make the first token, which may do everything',
      body: {
        schema: Type.Object({ BootstrapSecret: Text() }),
        unknown: 'refuse',
        optional: true,
      },
      answer: Type.Object({ ...AclTokenSchema.properties, ID: Text() }),
      permission: (input) => {
        requireAcl(input);
        return open;
      },
      handle: async ({ body }: Input<Record<never, never>, { BootstrapSecret?: string }>) => {
        const { index, value } = await bootstrap(context, reset, body.BootstrapSecret ?? '');
        const SecretID = context.box.open(value.SecretSealed);
        const shown = shownToken(value, namesIn(context.state.read()));
        return { index, value: { ID: SecretID, ...shown, SecretID } };
      },
    }),
  ];
}
