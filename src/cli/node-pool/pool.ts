import type { NodePool } from '../../model/node-pool/node-pool.ts';
import { argument } from '../acl/links.ts';
import { deleted } from '../acl/resolve.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { printNodes } from '../node/status.ts';
import { oneLine, orDash } from '../render/text.ts';
import { readText } from '../text-file.ts';
import { poolIn } from './pool-file.ts';

const pool = argument('POOL', 'Name of the node pool.', 'node-pool');

const algorithmOf = ({ SchedulerConfiguration }: NodePool): string =>
  SchedulerConfiguration?.SchedulerAlgorithm || "the cluster's";

async function print({ screen, isJson, json }: Context, value: NodePool): Promise<number> {
  if (isJson) await json(value);
  else {
    await screen.fields([
      ['Name', oneLine(value.Name)],
      ['Description', orDash(value.Description)],
      ['Algorithm', algorithmOf(value)],
      ...Object.entries(value.Meta ?? {}).map(
        ([name, text]) => [`Meta.${oneLine(name)}`, oneLine(text)] as const,
      ),
    ]);
  }
  return exitCodes.ok;
}

export const nodePoolApply: ClientCommand = {
  definition: {
    arguments: [argument('FILE', 'The pool, in HCL or JSON; - is standard input.', 'file')],
    details: `Example:
  node_pool "gpu" {
    description = "Machines with accelerators"
    meta { owner = "research" }
    scheduler_config { scheduler_algorithm = "spread" }
  }`,
  },
  async run(context, [path]) {
    const given = poolIn(await readText(context, path!, 'node pool'), path!);
    const { value } = await context.client.nodePools.write(given.Name, given);
    return print(context, value);
  },
};

export const nodePoolInfo: ClientCommand = {
  definition: { arguments: [pool] },
  run: async (context, [name]) =>
    print(context, (await context.client.nodePools.read(name!)).value),
};

export const nodePoolDelete: ClientCommand = {
  definition: { arguments: [pool], details: 'Only a pool without nodes and jobs can be deleted.' },
  async run(context, [name]) {
    const { value } = await context.client.nodePools.delete(name!);
    await deleted(context, 'node pool', name!, value);
    return exitCodes.ok;
  },
};

export const nodePoolList: ClientCommand = {
  definition: {},
  async run({ client, screen, isJson, json }) {
    const { value } = await client.nodePools.list();
    if (isJson) await json(value);
    else {
      await screen.table(
        ['Name', 'Algorithm', 'Description'],
        value.map((one) => [oneLine(one.Name), algorithmOf(one), orDash(one.Description)]),
      );
    }
    return exitCodes.ok;
  },
};

export const nodePoolNodes: ClientCommand = {
  definition: { arguments: [pool] },
  async run(context, [name]) {
    const { value } = await context.client.nodePools.nodes(name!);
    if (context.isJson) await context.json(value);
    else if (value.length === 0) await context.screen.line('No node is in the pool.');
    else await printNodes(context, value);
    return exitCodes.ok;
  },
};

export const nodePoolJobs: ClientCommand = {
  definition: {
    arguments: [pool],
    details: 'Those of the namespace; of all with --namespace "*".',
  },
  async run({ client, screen, isJson, json }, [name]) {
    const { value } = await client.nodePools.jobs(name!);
    if (isJson) await json(value);
    else if (value.length === 0) await screen.line('No job of the namespace is in the pool.');
    else {
      await screen.table(
        ['ID', 'Namespace', 'Type', 'Status'],
        value.map(({ ID, Namespace, Type, Status }) => [
          oneLine(ID),
          oneLine(Namespace),
          Type,
          screen.status(Status),
        ]),
      );
    }
    return exitCodes.ok;
  },
};
