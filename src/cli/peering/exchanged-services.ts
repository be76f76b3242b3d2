import { argument, type ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { oneLine } from '../render/text.ts';
import { nameArgument } from './words.ts';

/** Exit code if the service is visible in neither cluster; 1 means that there is no answer. */
const nowhere = 2;

const verdicts = {
  exports: 'exports it',
  'other-namespace': 'is of another namespace',
  'other-service': 'is of another service',
  'other-consumers': 'is for others',
};

export const peeringExportedServices: ClientCommand = {
  words: ['peering', 'exported-services'],
  summary: 'List the services that are exported to a peer.',
  definition: {
    isPaged: true,
    arguments: [nameArgument],
    details: 'Services outside the namespace default are shown as NAMESPACE/NAME.',
  },
  async run({ partition, client, isJson, json, screen }, [name]) {
    const peer = name!;
    const { value } = await client.peerings.read(peer, { partition });
    const names = value.StreamStatus.ExportedServices;
    if (isJson) await json(names);
    else if (names.length === 0) await screen.line(`Nothing is exported to "${oneLine(peer)}".`);
    else for (const name of names) await screen.line(oneLine(name));
    return exitCodes.ok;
  },
};

export const peeringWhy: ClientCommand = {
  words: ['peering', 'why'],
  summary: 'Explain why a service is or is not visible at a peer, and a service of the peer here.',
  definition: {
    isPaged: true,
    arguments: [
      argument('SERVICE', 'Name of the service.', 'service'),
      argument('PEER', 'Name of the peer.', 'peering'),
    ],
    details:
      'Of both ways: the service of this cluster at the peer, and that of the peer here.\n\n' +
      `Exit code 0: it is there, one way or the other; ${nowhere}: it is not; 1: there is no answer.`,
  },
  async run({ partition, client, isJson, json, screen }, [service, peer]) {
    const { value } = await client.exchangedServices.why(peer!, service!, { partition });
    const { Export, Import } = value;
    const isAnywhere = Export.IsThere || Import.IsThere;
    if (isJson) {
      await json(value);
      return isAnywhere ? exitCodes.ok : nowhere;
    }
    const { green, red } = screen.colors;
    const answer = (isThere: boolean) => (isThere ? green('yes') : red('no'));
    await screen.line(`Ours there: ${answer(Export.IsThere)}`);
    await screen.line(`  ${oneLine(Export.Sentence)}`);
    for (const { Position, Name, Namespace, Verdict } of Export.Rules) {
      const rule = `Services[${Position}] (${oneLine(Namespace)}/${oneLine(Name)})`;
      await screen.line(`  - ${rule} ${verdicts[Verdict as keyof typeof verdicts]}`);
    }
    await screen.line(`Theirs here: ${answer(Import.IsThere)}`);
    await screen.line(`  ${oneLine(Import.Sentence)}`);
    return isAnywhere ? exitCodes.ok : nowhere;
  },
};
