import type { NodeTopology } from '../../sdk/nodes.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, filterOption, verbose } from '../definition.ts';
import { type Columns, printRecords } from '../list-command.ts';
import {
  type Amounts,
  addAmounts,
  cpuText,
  diskText,
  memoryText,
  noAmounts,
} from '../render/amounts.ts';
import { oneLine, orDash } from '../render/text.ts';

/** The fields by which nodes can be summed up, besides their meta. */
const fields: Readonly<Record<string, (node: NodeTopology) => string | undefined>> = {
  datacenter: ({ Datacenter }) => Datacenter,
  pool: ({ NodePool }) => NodePool,
  class: ({ NodeClass }) => NodeClass,
  status: (node) => statusOf(node),
};

export const nodeTopology: ClientCommand = {
  words: ['node', 'topology'],
  summary: 'List the nodes with what they offer, and what allocations hold of it.',
  definition: {
    isPaged: true,
    options: [
      verbose,
      {
        name: 'by',
        value: 'FIELD',
        choices: [...Object.keys(fields), 'meta'],
        description: 'Sum up by this field; meta takes the keys of --meta.',
      },
      {
        name: 'meta',
        value: 'KEY',
        isRepeatable: true,
        description: 'A key of the meta of nodes to show. Default: rack.',
      },
      {
        ...filterOption,
        description: `Only nodes that match the expression, such as 'Datacenter == "east"'.`,
      },
    ],
    details: `Numbers are those of unfinished allocations. Nodes that are down are listed, and offer nothing to sums.

Examples:
  roster node topology
  roster node topology -by datacenter
  roster node topology -by meta -meta zone -meta rack`,
  },
  async run(context, _words, options) {
    const filter = options.text('filter');
    const meta = options.list('meta');
    const keys = meta.length === 0 ? ['rack'] : meta;
    const { value } = await context.client.nodes.topology({ filter, meta: keys });
    const by = options.text('by');
    if (by === undefined) return printNodes(context, value, keys);
    const sums = sumsBy(value, (node) =>
      by === 'meta' ? keys.map((key) => node.Meta[key]) : [fields[by]!(node)],
    );
    const titles = by === 'meta' ? keys : [by];
    return printRecords(context, sums.map(shownSum(titles)), {
      records: sums,
      empty: 'No node fits.',
      columns: sumColumns(titles),
    });
  },
};

const statusOf = ({ Status, Drain, SchedulingEligibility }: NodeTopology): string => {
  if (Status !== 'ready') return Status;
  return Drain ? 'draining' : SchedulingEligibility === 'eligible' ? Status : 'ineligible';
};

const countOf = ({ Allocations }: Pick<NodeTopology, 'Allocations'>): number =>
  Object.values(Allocations).reduce((sum, count) => sum + count, 0);

function printNodes(
  context: Context,
  nodes: readonly NodeTopology[],
  keys: readonly string[],
): Promise<number> {
  const ofMeta = keys.map((key) => [titleOf(key), ({ Meta }: NodeTopology) => orDash(Meta[key])]);
  const columns: Columns<NodeTopology> = {
    ID: ({ ID }, { id }) => id(ID),
    Name: ({ Name }) => oneLine(Name),
    Datacenter: ({ Datacenter }) => oneLine(Datacenter),
    ...Object.fromEntries(ofMeta),
    Pool: ({ NodePool }) => oneLine(NodePool),
    Status: statusOf,
    CPU: ({ Allocated, Capacity }) => cpuText(Allocated, Capacity),
    Memory: ({ Allocated, Capacity }) => memoryText(Allocated, Capacity),
    Disk: ({ Allocated, Capacity }) => diskText(Allocated, Capacity),
    Allocs: (node) => String(countOf(node)),
  };
  return printRecords(context, nodes, { records: nodes, empty: 'No node fits.', columns });
}

const titleOf = (key: string): string => {
  const shown = oneLine(key);
  return `${shown.slice(0, 1).toUpperCase()}${shown.slice(1)}`;
};

interface Sum {
  /** The values that its nodes share. */
  readonly values: readonly (string | undefined)[];
  readonly nodes: number;
  readonly ready: number;
  readonly held: Amounts;
  readonly offered: Amounts;
  readonly allocations: number;
}

/** The sums of the nodes with the same values, in the order of these. */
function sumsBy(
  nodes: readonly NodeTopology[],
  valuesOf: (node: NodeTopology) => readonly (string | undefined)[],
): readonly Sum[] {
  const sums = new Map<string, Sum>();
  for (const node of nodes) {
    const values = valuesOf(node);
    const key = JSON.stringify(values.map((value) => value ?? null));
    const sum = sums.get(key) ?? {
      values,
      nodes: 0,
      ready: 0,
      held: noAmounts,
      offered: noAmounts,
      allocations: 0,
    };
    const offers = node.Status !== 'down';
    sums.set(key, {
      values,
      nodes: sum.nodes + 1,
      ready: sum.ready + (statusOf(node) === 'ready' ? 1 : 0),
      held: offers ? addAmounts(sum.held, node.Allocated) : sum.held,
      offered: offers ? addAmounts(sum.offered, node.Capacity) : sum.offered,
      allocations: sum.allocations + countOf(node),
    });
  }
  return [...sums].sort(([key], [other]) => (key < other ? -1 : 1)).map(([, sum]) => sum);
}

const sumColumns = (titles: readonly string[]): Columns<Sum> => ({
  ...Object.fromEntries(
    titles.map((title, at) => [titleOf(title), ({ values }: Sum) => orDash(values[at])]),
  ),
  Nodes: ({ nodes }) => String(nodes),
  Ready: ({ ready }) => String(ready),
  CPU: ({ held, offered }) => cpuText(held, offered),
  Memory: ({ held, offered }) => memoryText(held, offered),
  Disk: ({ held, offered }) => diskText(held, offered),
  Allocs: ({ allocations }) => String(allocations),
});

/** A sum as JSON, with the names of the API. */
const shownSum =
  (titles: readonly string[]) =>
  ({ values, nodes, ready, held, offered, allocations }: Sum) => ({
    By: Object.fromEntries(titles.map((title, at) => [title, values[at] ?? ''])),
    Nodes: nodes,
    Ready: ready,
    Capacity: offered,
    Allocated: held,
    Allocations: allocations,
  });
