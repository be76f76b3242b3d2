import { type ClientCommand, filterOption } from '../definition.ts';
import { printRecords } from '../list-command.ts';
import { oneLine, orDash } from '../render/text.ts';

const definition = { options: [filterOption], isPaged: true } as const;

export const serviceExported: ClientCommand = {
  words: ['service', 'exported'],
  summary: 'List the services that are exported to peers and partitions.',
  definition,
  async run(context, _words, options) {
    const { partition, client } = context;
    const filter = options.text('filter');
    const { value } = await client.exchangedServices.exported({ filter, partition });
    return printRecords(context, value, {
      records: value,
      empty: 'Nothing is exported.',
      columns: {
        Service: ({ Service }) => oneLine(Service),
        Namespace: ({ Namespace }) => oneLine(Namespace),
        Peers: ({ Consumers: { Peers = [] } }) => orDash(Peers.join(', ')),
        Partitions: ({ Consumers: { Partitions = [] } }) => orDash(Partitions.join(', ')),
      },
    });
  },
};

export const serviceImported: ClientCommand = {
  words: ['service', 'imported'],
  summary: 'List the services that are imported from peers.',
  definition,
  async run(context, _words, options) {
    const { partition, client } = context;
    const filter = options.text('filter');
    const { value } = await client.exchangedServices.imported({ filter, partition });
    return printRecords(context, value, {
      records: value,
      empty: 'Nothing is imported.',
      columns: {
        Service: ({ Service }) => oneLine(Service),
        Namespace: ({ Namespace }) => oneLine(Namespace),
        Peer: ({ SourcePeer }) => oneLine(SourcePeer),
      },
    });
  },
};
