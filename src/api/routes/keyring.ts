import { keyringEndpoints as contract } from '../../contract/keyring.ts';
import { type KeyringKey, presentedKey } from '../../model/keyring/keyring-key.ts';
import { rotateKeyring } from '../../server/keyring/rotate.ts';
import type { Server } from '../../server/server.ts';
import { keyringKeys } from '../../state/tables.ts';
import type { Route } from '../route.ts';
import { serveList, serveWrite } from '../serve.ts';

/** The keyring's metadata. Keys themselves are never shown. */
export function keyringRoutes({ context, keyring }: Server): Route[] {
  return [
    ...serveList(contract.list, {
      rows: ({ snapshot }, { from, reverse }) =>
        snapshot.table(keyringKeys).scan({ ...(from && { from }), reverse }),
      keyOf: ({ KeyID }: KeyringKey) => [KeyID],
      matches: ({ Purpose }) => Purpose === 'sealing',
      present: presentedKey,
    }),
    ...serveWrite(contract.rotate, async () => {
      const { index, value } = await rotateKeyring(context.state, keyring);
      return { index, value: { Key: presentedKey(value) } };
    }),
  ];
}
