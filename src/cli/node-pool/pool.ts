import type { NodePool } from '../../model/node-pool/node-pool.ts';
import type { Context } from '../context.ts';
import { argument, type ClientCommand, filterOption } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { nounList, printTable } from '../list-command.ts';
import { printNodes } from '../node/status.ts';
import { nounCommands } from '../noun-commands.ts';
import { oneLine, orDash } from '../render/text.ts';
import { readText } from '../text-file.ts';
import { poolIn } from './pool-file.ts';

const pool = argument('POOL', 'Name of the node pool.', 'node-pool');

const algorithmOf = ({ SchedulerConfiguration }: NodePool): string =>
  SchedulerConfiguration?.SchedulerAlgorithm || "the cluster's";

const print = ({ screen }: Context, value: NodePool): Promise<void> =>
  screen.fields([
    ['Name', oneLine(value.Name)],
    ['Description', orDash(value.Description)],
    ['Algorithm', algorithmOf(value)],
    ...Object.entries(value.Meta ?? {}).map(
      ([name, text]) => [`Meta.${oneLine(name)}`, oneLine(text)] as const,
    ),
  ]);

export const nodePools = nounCommands<NodePool>({
  words: ['node', 'pool'],
  one: 'a node pool',
  many: 'the node pools',
  verbs: {
    create: { word: 'apply', summary: 'Create or replace a node pool.' },
    read: { word: 'info' },
    delete: { summary: 'Delete an empty node pool.' },
  },
  argument: pool,
  read: (client, name) => client.nodePools.read(name),
  print,
  list: nounList({
    request: 'GET /v1/node/pools',
    columns: {
      Name: ({ Name }) => oneLine(Name),
      Algorithm: algorithmOf,
      Description: ({ Description }) => orDash(Description),
    },
  }),
  create: {
    arguments: [argument('FILE', 'The pool, in HCL or JSON; - is standard input.', 'file')],
    details: `Example:
  node_pool "gpu" {
    description = "Machines with accelerators"
    meta { owner = "research" }
    scheduler_config { scheduler_algorithm = "spread" }
  }`,
    async write(context, path) {
      const given = poolIn(await readText(context, path!, 'node pool'), path!);
      return context.client.nodePools.write(given.Name, given);
    },
  },
  delete: {
    details: 'Only a pool without nodes and jobs can be deleted.',
    run: (client, name) => client.nodePools.delete(name),
  },
});

export const nodePoolNodes: ClientCommand = {
  words: ['node', 'pool', 'nodes'],
  summary: 'List the nodes of a pool.',
  definition: { isPaged: true, arguments: [pool], options: [filterOption] },
  async run(context, [name], options) {
    const filter = options.text('filter');
    const { value } = await context.client.nodePools.nodes(name!, { filter });
    if (context.isJson) await context.json(value);
    else if (value.length === 0) await context.screen.line('No node is in the pool.');
    else await printNodes(context, value);
    return exitCodes.ok;
  },
};

export const nodePoolJobs: ClientCommand = {
  words: ['node', 'pool', 'jobs'],
  summary: 'List the jobs that name a pool.',
  definition: {
    isPaged: true,
    arguments: [pool],
    options: [filterOption],
    details: 'Lists the jobs of the namespace; with --namespace "*", those of all namespaces.',
  },
  async run(context, [name], options) {
    const filter = options.text('filter');
    const { value } = await context.client.nodePools.jobs(name!, { filter });
    if (context.isJson) await context.json(value);
    else if (value.length === 0) {
      await context.screen.line('No job of the namespace is in the pool.');
    } else {
      await printTable(context, value, {
        ID: ({ ID }) => oneLine(ID),
        Namespace: ({ Namespace }) => oneLine(Namespace),
        Type: ({ Type }) => Type,
        Status: ({ Status }, { screen }) => screen.status(Status),
      });
    }
    return exitCodes.ok;
  },
};
