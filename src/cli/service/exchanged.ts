import { type ClientCommand, filterOption } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { oneLine, orDash } from '../render/text.ts';

const definition = {
  options: [filterOption],
};

export const serviceExported: ClientCommand = {
  words: ['service', 'exported'],
  summary: 'List the services that others may use, and who.',
  definition,
  async run({ partition, client, screen, isJson, json }, _words, options) {
    const { value } = await client.exchangedServices.exported({
      filter: options.text('filter'),
      partition,
    });
    if (isJson) await json(value);
    else if (value.length === 0) await screen.line('Nothing is exported.');
    else {
      await screen.table(
        ['Service', 'Namespace', 'Peers', 'Partitions'],
        value.map(({ Service, Namespace, Consumers: { Peers = [], Partitions = [] } }) => [
          oneLine(Service),
          oneLine(Namespace),
          orDash(Peers.join(', ')),
          orDash(Partitions.join(', ')),
        ]),
      );
    }
    return exitCodes.ok;
  },
};

export const serviceImported: ClientCommand = {
  words: ['service', 'imported'],
  summary: 'List the services of peers that may be used here.',
  definition,
  async run({ partition, client, screen, isJson, json }, _words, options) {
    const { value } = await client.exchangedServices.imported({
      filter: options.text('filter'),
      partition,
    });
    if (isJson) await json(value);
    else if (value.length === 0) await screen.line('Nothing is imported.');
    else {
      await screen.table(
        ['Service', 'Namespace', 'Peer'],
        value.map(({ Service, Namespace, SourcePeer }) => [
          oneLine(Service),
          oneLine(Namespace),
          oneLine(SourcePeer),
        ]),
      );
    }
    return exitCodes.ok;
  },
};
