import {
  type KeyringKey,
  KeyringKeySchema,
  presentedKey,
} from '../../model/keyring/keyring-key.ts';
import { resourceAccess } from '../../model/permission/permission.ts';
import { Type } from '../../model/schema.ts';
import { rotateKeyring } from '../../server/keyring/rotate.ts';
import type { Server } from '../../server/server.ts';
import { keyringKeys } from '../../state/tables.ts';
import { listRoute, type Route, writeRoute } from '../route.ts';

/** The keys that secrets at rest are sealed under; never the keys themselves. */
export function keyringRoutes({ context, keyring }: Server): Route[] {
  return [
    listRoute({
      method: 'GET',
      path: '/v1/operator/keyring/keys',
      noun: 'keyring',
      summary: 'List the keys of the keyring',
      answer: KeyringKeySchema,
      filterSchema: KeyringKeySchema,
      permission: () => resourceAccess('keyring', 'read'),
      rows: ({ snapshot }, { from, reverse }) =>
        snapshot.table(keyringKeys).scan({ ...(from && { from }), reverse }),
      keyOf: ({ KeyID }: KeyringKey) => [KeyID],
      matches: ({ Purpose }) => Purpose === 'sealing',
      present: presentedKey,
    }),
    writeRoute({
      method: 'PUT',
      path: '/v1/operator/keyring/rotate',
      noun: 'keyring',
      summary: 'Make a new key active and seal every secret anew',
      answer: Type.Object({ Key: KeyringKeySchema }),
      permission: () => resourceAccess('keyring', 'write'),
      handle: async () => {
        const { index, value } = await rotateKeyring(context.state, keyring);
        return { index, value: { Key: presentedKey(value) } };
      },
    }),
  ];
}
