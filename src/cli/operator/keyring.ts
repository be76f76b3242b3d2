import { formatInstant, instantToMs } from '../../base/instant.ts';
import type { ClientCommand } from '../definition.ts';
import { listCommand } from '../list-command.ts';

export const keyringList = listCommand({
  words: ['operator', 'keyring', 'list'],
  summary: 'List the keys of the keyring.',
  request: 'GET /v1/operator/keyring/keys',
  details: 'The keys themselves are never shown.',
  columns: {
    Key: ({ KeyID }) => KeyID,
    State: ({ State }) => State,
    Algorithm: ({ Algorithm }) => Algorithm,
    Created: ({ CreateTime }) => formatInstant(instantToMs(CreateTime)),
  },
});

export const keyringRotate: ClientCommand = {
  words: ['operator', 'keyring', 'rotate'],
  summary: 'Rotate the key that seals secrets.',
  definition: {
    details: 'Makes a new key active, seals every secret with it, and deletes the old key.',
  },
  async run(context) {
    const { value } = await context.client.keyring.rotate();
    return context.show(value, async () => {
      await context.screen.line(`Key ${value.Key.KeyID} is active; every secret is sealed anew.`);
    });
  },
};
