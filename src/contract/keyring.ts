import { KeyringKeySchema, type PresentedKeyringKey } from '../model/keyring/keyring-key.ts';
import { Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { resource } from './needs.ts';

export const keyringEndpoints = endpoints(
  { group: 'keyring', noun: 'keyring', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      path: '/v1/operator/keyring/keys',
      summary: 'List the keys of the keyring',
      answer: typed<PresentedKeyringKey>(KeyringKeySchema),
      filter: KeyringKeySchema,
      permission: resource('keyring', 'read'),
    },
    rotate: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/operator/keyring/rotate',
      summary: 'Activate a new key and seal every secret with it',
      answer: Type.Object({ Key: KeyringKeySchema }),
      permission: resource('keyring', 'write'),
    },
  },
);
