import type { ShownIntention } from '../../model/config-entry/intention-answers.ts';
import { argument, type ClientCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { printRecords } from '../list-command.ts';
import { oneLine, orDash, plural } from '../render/text.ts';

/** Exit code of a denial; 1 means that there is no answer. */
const denied = 2;

const services = 'A service is named NAME, NAMESPACE/NAME or PARTITION/NAMESPACE/NAME.';

export const intentionCheck: ClientCommand = {
  words: ['intention', 'check'],
  summary: 'Check whether a service may call another, and why.',
  definition: {
    arguments: [
      argument('SOURCE', 'The service that calls.', 'service'),
      argument('DESTINATION', 'The service that is called.', 'service'),
    ],
    options: [
      {
        name: 'source-peer',
        value: 'PEER',
        description: 'The peer that has the source.',
        completes: 'peering',
      },
      {
        name: 'path',
        value: 'PATH',
        description: 'Path of the request, for intentions with permissions.',
      },
      { name: 'method', value: 'METHOD', description: 'Method of the request; GET by default.' },
      {
        name: 'header',
        value: 'NAME: VALUE',
        isRepeatable: true,
        description: 'A header of the request; may be repeated.',
      },
    ],
    details: `${services}\n\nExit code 0: allowed; ${denied}: denied; 1: there is no answer.`,
  },
  async run({ client, isJson, json, screen }, [source, destination], options) {
    const { value } = await client.intentions.check({
      source: source!,
      destination: destination!,
      sourcePeer: options.text('sourcePeer'),
      path: options.text('path'),
      method: options.text('method'),
      headers: options.list('header'),
    });
    if (isJson) await json(value);
    else {
      const { green, red } = screen.colors;
      await screen.line(value.Allowed ? green('Allowed') : red('Denied'));
      await screen.line(oneLine(value.Reason));
    }
    return value.Allowed ? exitCodes.ok : denied;
  },
};

export const intentionMatch: ClientCommand = {
  words: ['intention', 'match'],
  summary: 'List the intentions of a service.',
  definition: {
    isPaged: true,
    arguments: [argument('SERVICE', 'The service.', 'service')],
    options: [
      { name: 'source', description: 'List the intentions with SERVICE as the source.' },
      {
        name: 'destination',
        description: 'List the intentions with SERVICE as the destination (the default).',
      },
    ],
    details: services,
  },
  async run(context, [name], options) {
    if (options.flag('source') && options.flag('destination')) {
      throw new CliError('--source and --destination contradict each other.');
    }
    const by = options.flag('source') ? 'source' : 'destination';
    const { value } = await context.client.intentions.match(by, name!);
    return printRecords(context, value, {
      records: value[name!] ?? [],
      empty: `No intentions are of ${oneLine(name!)}.`,
      columns: {
        Precedence: ({ Precedence }) => String(Precedence),
        Source: (one) => placed(one.SourcePeer || one.SourceNamespace, one.SourceName),
        Destination: (one) => placed(one.DestinationNamespace, one.DestinationName),
        Action: actionOf,
        Description: ({ Description }) => orDash(Description),
      },
    });
  },
};

const placed = (place: string, name: string): string =>
  oneLine(place === 'default' ? name : `${place}/${name}`);

const actionOf = ({ Action, Permissions }: ShownIntention): string =>
  Permissions === null ? Action : plural(Permissions.length, 'permission');

export const intentionMatrix: ClientCommand = {
  words: ['intention', 'matrix'],
  summary: 'List which services may call which.',
  definition: {
    isPaged: true,
    arguments: [
      {
        name: 'SERVICE',
        kind: 'service',
        isRequired: false,
        isSeveral: true,
        description: 'The services; by default those of the namespace, 50 at most.',
      },
    ],
    details: `${services}\n\nIntentions with permissions allow single requests, which "intention check" tells.`,
  },
  async run(context, names) {
    const { client, screen } = context;
    const { value } = await client.intentions.matrix(names.length > 0 ? { names } : {});
    return context.show(value, async () => {
      const rows = value.Destinations.map((destination, row) => {
        const callers = value.Sources.filter((_, column) => value.Allowed[row]?.[column]);
        return [oneLine(destination), orDash(callers.map(oneLine).join(', '))];
      });
      if (rows.length === 0) return screen.line('No services are known that your token may read.');
      await screen.table(['Destination', 'May be called by'], rows);
      const more = value.Total - rows.length;
      if (more > 0) await screen.line(`${plural(more, 'further service')} not shown.`);
    });
  },
};
