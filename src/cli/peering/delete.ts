import { isMissing, waitFor } from '../../sdk/client.ts';
import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { oneLine } from '../render/text.ts';
import { nameArgument } from './words.ts';

export const peeringDelete: ClientCommand = {
  words: ['peering', 'delete'],
  summary: 'Delete a peering.',
  definition: {
    confirms: ([name]) => `Delete the peering "${name}", and the services of the peer here?`,
    arguments: [nameArgument],
    options: [
      {
        name: 'wait',
        description: 'Return when the peering and all services of the peer are deleted.',
      },
    ],
    details: `The other cluster keeps its own record as TERMINATED until it is deleted there. The services of the
peer are deleted in the background. Configuration that names the peer stays.`,
  },
  async run(context, [given], options) {
    const { client, screen, isJson, json } = context;
    const name = given!;
    const { partition } = context;
    const { value: peering } = await client.peerings.read(name, { partition });
    await client.peerings.delete(name, { partition });
    if (!isJson) await screen.line(`The peering "${oneLine(name)}" is marked for deletion.`);
    if (options.flag('wait')) {
      await context.untilInterrupted(async (signal) => {
        const isGone = ({ ID }: { readonly ID: string }) => ID !== peering.ID;
        const read = (call: object) => client.peerings.read(name, { ...call, partition });
        await waitFor(read, isGone, { signal }).catch((error: unknown) => {
          if (!isMissing(error)) throw error;
        });
      });
      if (!isJson) await screen.line('It is gone.');
    }
    if (isJson) await json({});
    return exitCodes.ok;
  },
};
