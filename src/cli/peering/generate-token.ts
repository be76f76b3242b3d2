import type { ClientCommand } from '../definition.ts';
import { pairs } from '../pairs.ts';
import { metaOption, nameArgument } from './words.ts';

export const peeringGenerateToken: ClientCommand = {
  words: ['peering', 'generate-token'],
  summary: 'Make a peering token for another cluster.',
  definition: {
    arguments: [nameArgument],
    options: [
      {
        name: 'server-external-addresses',
        value: 'ADDRESS,ADDRESS',
        description: 'Addresses at which the other cluster reaches this cluster, each HOST:PORT.',
      },
      metaOption,
    ],
    details: `Prints only the token. It contains a secret and can be used once, with "roster peering establish"
in the other cluster. A new token for the same name replaces it.

Examples:
  roster peering generate-token east
  roster peering generate-token east -server-external-addresses lb.example:4720`,
  },
  async run({ partition, client, environment, show }, [name], options) {
    const addresses = options.text('serverExternalAddresses');
    const meta = pairs('meta', options.list('meta'));
    const { value } = await client.peerings.generateToken({
      PeerName: name!,
      Partition: partition,
      ServerExternalAddresses: addresses?.split(',').map((address) => address.trim()),
      Meta: Object.keys(meta).length === 0 ? undefined : meta,
    });
    return show(value, () => environment.stdout.write(`${value.PeeringToken}\n`));
  },
};
