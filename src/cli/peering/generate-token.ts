import type { ClientCommand } from '../definition.ts';
import { pairs } from '../pairs.ts';
import { metaOption, nameArgument, nameOption, peerName } from './words.ts';

export const peeringGenerateToken: ClientCommand = {
  words: ['peering', 'generate-token'],
  summary: 'Make a token for a cluster that is to peer with this cluster.',
  definition: {
    arguments: [nameArgument],
    options: [
      nameOption,
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
  roster peering generate-token -name east
  roster peering generate-token -name east -server-external-addresses lb.example:4720`,
  },
  async run({ partition, client, environment, show }, [word], options) {
    const addresses = options.text('serverExternalAddresses');
    const meta = pairs('meta', options.list('meta'));
    const { value } = await client.peerings.generateToken({
      PeerName: peerName(word, options),
      Partition: partition,
      ServerExternalAddresses: addresses?.split(',').map((address) => address.trim()),
      Meta: Object.keys(meta).length === 0 ? undefined : meta,
    });
    return show(value, () => environment.stdout.write(`${value.PeeringToken}\n`));
  },
};
