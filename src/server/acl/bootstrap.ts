import { type AclToken, managementPolicyId } from '../../model/acl-token/acl-token.ts';
import { checkGivenId } from '../../model/acl-token/write.ts';
import { type Fault, invalid, refusal } from '../../model/errors.ts';
import { defaultScope } from '../../model/namespace/namespace.ts';
import { faultAt } from '../../model/path.ts';
import { aclBootstrap } from '../../state/tables.ts';
import type { Written } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { whenDurable } from '../idempotency/request-scope.ts';
import { insertToken } from './tokens.ts';

/** A file on the server's machine by which an operator allows another first token. */
export interface BootstrapReset {
  /** The file's text; `undefined`: there is no file. */
  read(): Promise<string | undefined>;
  remove(): Promise<void>;
}

export const noReset: BootstrapReset = { read: async () => undefined, remove: async () => {} };

/**
 * Makes the first token, once. Source: docs/behaviour/access-control.md#the-first-token.
 * @throws RosterError `invalid-body`, `bootstrap-done`, `bootstrap-reset-wrong`, `id-taken`
 */
export async function bootstrap(
  context: ServerContext,
  reset: BootstrapReset,
  givenSecret: string,
): Promise<Written<AclToken>> {
  checkSecret(givenSecret);
  const found = await reset.read();
  const written = await context.state.write((transaction) => {
    const table = transaction.table(aclBootstrap);
    const done = table.get('bootstrap');
    if (done !== undefined) {
      const index = done.ModifyIndex;
      if (found === undefined) throw refusal('bootstrap-done', { index });
      if (found.trim() !== String(index)) throw refusal('bootstrap-reset-wrong', { index });
    }
    const token = insertToken(transaction, context, defaultScope, {
      Description: 'Bootstrap Token (Global Management)',
      Policies: [{ ID: managementPolicyId }],
      Roles: [],
      TemplatedPolicies: [],
      ServiceIdentities: [],
      NodeIdentities: [],
      Local: false,
      AuthMethod: '',
      AuthMethodNamespace: '',
      ExpirationTime: 0,
      CreateTime: context.world.clock.nowMs(),
      accessor: '',
      secret: givenSecret,
    });
    table.put({ AccessorID: token.AccessorID });
    return token;
  });
  if (found !== undefined) {
    await whenDurable(context.state);
    await reset.remove();
  }
  return written;
}

function checkSecret(given: string): void {
  const faults: Fault[] = [];
  checkGivenId(given, 'BootstrapSecret', (path, message) => faults.push(faultAt(path, message)));
  if (faults.length > 0) throw invalid('invalid-body', faults);
}
