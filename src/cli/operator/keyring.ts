import { formatInstant, instantToMs } from '../../base/instant.ts';
import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';

export const keyringList: ClientCommand = {
  definition: { details: 'The keys themselves are never shown.' },
  async run(context) {
    const { value } = await context.client.keyring.list();
    if (context.isJson) {
      await context.json(value);
      return exitCodes.ok;
    }
    const rows = value.map(({ KeyID, State, Algorithm, CreateTime }) => [
      ...[KeyID, State, Algorithm, formatInstant(instantToMs(CreateTime))],
    ]);
    await context.screen.table(['Key', 'State', 'Algorithm', 'Created'], rows);
    return exitCodes.ok;
  },
};

export const keyringRotate: ClientCommand = {
  definition: {
    details: 'Makes a new key active, seals every secret anew and forgets the old key.',
  },
  async run(context) {
    const { value } = await context.client.keyring.rotate();
    if (context.isJson) await context.json(value);
    else
      await context.screen.line(`Key ${value.Key.KeyID} is active; every secret is sealed anew.`);
    return exitCodes.ok;
  },
};
