import type { Context } from '../context.ts';
import {
  argument,
  type ClientCommand,
  filterOption,
  type OptionDefinition,
  verbose,
} from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { printRecords } from '../list-command.ts';
import { oneLine } from '../render/text.ts';
import { printInstances } from './instances.ts';

const instanceFilter = {
  ...filterOption,
  description: 'Only instances that match the expression, such as \'Status == "passing"\'.',
};
const peerOptions: readonly OptionDefinition[] = [
  {
    name: 'peer',
    value: 'PEER',
    description: 'Services of this peer, not of this cluster.',
    completes: 'peering',
  },
];
const nameArgument = argument('SERVICE', 'Name of the service.', 'service');

export const serviceList: ClientCommand = {
  words: ['service', 'list'],
  summary: 'List the services.',
  definition: {
    isPaged: true,
    options: [filterOption, ...peerOptions],
  },
  async run(context, _words, options) {
    const { value } = await context.client.services.list({
      filter: options.text('filter'),
      peer: options.text('peer'),
      partition: context.partition,
    });
    const records = value.flatMap(({ Namespace, Services }) =>
      Services.map((service) => ({ Namespace, ...service })),
    );
    return printRecords<(typeof records)[number]>(context, value, {
      records,
      empty: 'There are no services.',
      columns: {
        Service: ({ ServiceName }) => oneLine(ServiceName),
        ...(context.namespace === '*' && { Namespace: ({ Namespace }) => oneLine(Namespace) }),
        Tags: ({ Tags }) => oneLine(Tags.join(', ')) || '-',
      },
    });
  },
};

export const serviceInfo: ClientCommand = {
  words: ['service', 'info'],
  summary: 'Show the instances of a service, with their addresses.',
  definition: {
    isPaged: true,
    arguments: [nameArgument],
    options: [
      instanceFilter,
      {
        name: 'choose',
        value: 'NUMBER|KEY',
        description: 'At most NUMBER instances, always the same for a KEY.',
      },
      ...peerOptions,
      verbose,
    ],
  },
  async run(context, [name], options) {
    const { client, isJson, json } = context;
    const filter = options.text('filter');
    const origin = { peer: options.text('peer'), partition: context.partition };
    const { value } = await client.services.instances(name!, {
      filter,
      choose: options.text('choose'),
      ...origin,
    });
    if (isJson) await json(value);
    else if (value.length > 0) {
      await printInstances(context, value, { ofPeer: origin.peer !== undefined });
    } else await refuseEmpty(context, name!, filter, origin);
    return exitCodes.ok;
  },
};

/** Refuses a name without instances, which is probably a mistake. */
async function refuseEmpty(
  { client, screen }: Context,
  name: string,
  filter: string | undefined,
  origin: { readonly peer: string | undefined; readonly partition: string | undefined },
): Promise<void> {
  const { value } =
    filter === undefined ? { value: [] } : await client.services.instances(name, origin);
  if (value.length > 0) return screen.line(`No instance of "${oneLine(name)}" fits the filter.`);
  if (origin.peer !== undefined) {
    throw new CliError(`The peer "${origin.peer}" has no instance of "${oneLine(name)}" for us.`, {
      hint: `"roster peering why ${oneLine(name)} ${origin.peer}" says why; --namespace looks elsewhere.`,
    });
  }
  throw new CliError(`There is no service "${oneLine(name)}".`, {
    hint: '"roster service list" lists the services; --namespace looks elsewhere.',
  });
}

export const serviceDelete: ClientCommand = {
  words: ['service', 'delete'],
  summary: 'Deregister an instance of a service.',
  definition: {
    confirms: ([name, id]) => `Take the instance ${id} out of "${name}"?`,
    arguments: [
      nameArgument,
      argument('ID', 'Whole id of the instance ("service info -verbose").'),
    ],
    details:
      'For instances that were left behind. If an instance still runs, its node registers it again\n' +
      'when its allocation changes.',
  },
  async run({ client, screen, show }, [name, id]) {
    const { value } = await client.services.remove(name!, id!);
    return show(value, () => screen.line(`The instance is taken out of "${oneLine(name!)}".`));
  },
};
