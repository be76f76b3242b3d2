/** The numbers of the overview, of nodes, of services, and of lists of records. */
import {
  amount,
  countBy,
  inWords,
  isOver,
  manyServices,
  type Row,
  share,
  type Truth,
  type View,
  wordOfNode,
  words,
} from './numbers.test-helper.ts';
import type { Shown } from './numbers-shown.test-helper.ts';

const tile = async (on: Shown, noun: string) => ({
  sum: await on.text(`[data-count=${noun}]`),
  parts: await on.barIn(on.page.locator(`.tile:has([data-count=${noun}])`)),
});
const overviewShown = async (on: Shown) => ({
  jobs: await tile(on, 'jobs'),
  allocations: await tile(on, 'allocations'),
  nodes: await tile(on, 'nodes'),
  ended: (await on.text('.ended')).replace('Ended, and kept: ', '').split(', ').toSorted(),
  given: await on.textsOf(on.page.locator('.room dl > div')),
});
async function overviewTold(of: Truth, namespace: string) {
  const jobs = await of.list(`jobs?namespace=${namespace}`);
  const allocations = await of.list(`allocations?namespace=${namespace}`);
  const [going, ended] = [false, true].map((wanted) =>
    allocations.filter(({ ClientStatus }) => isOver(ClientStatus) === wanted),
  );
  const nodes = await of.nodes();
  const alive = nodes.filter(({ Status }) => Status !== 'down');
  const status = ({ ClientStatus }: Row) => ClientStatus;
  const sum = (what: 'capacity' | 'held', resource: string): number =>
    alive.reduce((total, node) => total + node[what][resource], 0);
  const given = { Processor: 'CPU', Memory: 'MemoryMB', Disk: 'DiskMB' };
  return {
    jobs: { sum: inWords(jobs.length), parts: words(countBy(jobs, ({ Status }) => Status)) },
    allocations: { sum: inWords(going!.length), parts: words(countBy(going!, status)) },
    nodes: { sum: inWords(nodes.length), parts: words(countBy(nodes, wordOfNode)) },
    ended: words(countBy(ended!, status)),
    given: Object.entries(given).map(([title, resource]) => {
      const [part, whole] = [sum('held', resource), sum('capacity', resource)];
      return `${title} ${share(part, whole)} of ${amount(resource, whole)}`;
    }),
  };
}
/** Cells of nodes: `name: status: allocations: CPU: memory`. */
const nodesTold = async (of: Truth): Promise<string[]> =>
  (await of.nodes())
    .map(({ Name, capacity, held, going, ...node }: Row) =>
      [
        Name,
        wordOfNode(node),
        String(going.length),
        share(held.CPU, capacity.CPU),
        share(held.MemoryMB, capacity.MemoryMB),
      ].join(': '),
    )
    .toSorted();

export const clusterViews: readonly View[] = [
  { name: 'the overview', path: '', shown: overviewShown, told: (of) => overviewTold(of, '*') },
  {
    name: 'the overview of a namespace',
    path: '?namespace=default',
    shown: overviewShown,
    told: (of) => overviewTold(of, 'default'),
  },
  {
    name: 'the overview of a token that may read a namespace',
    path: '',
    isNarrow: true,
    shown: async (on) => ({
      jobs: await tile(on, 'jobs'),
      allocations: await tile(on, 'allocations'),
    }),
    told: async (of) => {
      const { jobs, allocations } = await overviewTold(of, '*');
      // The token may read a single namespace, which holds a single job.
      return { jobs: { ...jobs, sum: '1' }, allocations };
    },
  },
  {
    name: 'the list of allocations',
    path: 'allocations',
    shown: async (on) => ({
      foot: (await on.foot()).split(',')[0],
      rows: (await on.column('Allocations', 'Allocation', 'Status', 'Version')).toSorted(),
    }),
    told: async (of) => {
      const all = await of.list('allocations?namespace=*');
      return {
        foot: `${all.length} rows`,
        rows: all
          .map(({ Name, ClientStatus, JobVersion }) => {
            const status = `${ClientStatus[0].toUpperCase()}${ClientStatus.slice(1)}`;
            return `${Name}: ${status}: ${JobVersion}`;
          })
          .toSorted(),
      };
    },
  },
  {
    name: 'the list of nodes',
    path: 'nodes',
    shown: async (on) => ({
      states: (await on.textsOf(on.page.locator('fieldset.states button'))).toSorted(),
      nodes: (await on.column('Nodes', 'Node', 'Status', 'Allocations', 'CPU', 'Memory'))
        .map((one) => one.replace(/: ([A-Z])/, (_, first: string) => `: ${first.toLowerCase()}`))
        .toSorted(),
    }),
    told: async (of) => ({
      states: words(countBy(await of.nodes(), wordOfNode)),
      nodes: await nodesTold(of),
    }),
  },
  {
    name: 'a node',
    path: async (truth) => `nodes/${(await truth.nodes()).find(({ Name }) => Name === 'n1')!.ID}`,
    shown: async (on) => ({
      amounts: await on.textsOf(on.page.locator('.held.words .amounts > span:first-child')),
      shares: await on.textsOf(on.page.locator('.held.words .share')),
    }),
    told: async (of) => {
      const { capacity, held } = (await of.nodes()).find(({ Name }) => Name === 'n1')!;
      const resources = ['CPU', 'MemoryMB', 'DiskMB'];
      return {
        amounts: resources.map(
          (one) => `${amount(one, held[one])} of ${amount(one, capacity[one])} allocated`,
        ),
        shares: resources.map((one) => share(held[one], capacity[one])),
      };
    },
  },
  {
    name: 'the allocations of a node',
    path: async (truth) =>
      `nodes/${(await truth.nodes()).find(({ Name }) => Name === 'n1')!.ID}?tab=allocations`,
    shown: async (on) => ({
      foot: (await on.foot()).split(',')[0],
      rows: (await on.column('Allocations of the node', 'Allocation', 'CPU', 'Memory')).toSorted(),
    }),
    told: async (of) => {
      const { going } = (await of.nodes()).find(({ Name }) => Name === 'n1')!;
      return {
        foot: `${going.length} rows`,
        rows: going
          .map(({ ID, Resources: { CPU, MemoryMB } }: Row) =>
            [ID.slice(0, 8), amount('CPU', CPU), amount('MemoryMB', MemoryMB)].join(': '),
          )
          .toSorted(),
      };
    },
  },
  {
    name: 'a plan',
    path: async (truth) => {
      const asked = { Kind: 'scale', JobID: 'web', Group: 'front', Count: 5 };
      const { ID } = await truth.post('plan', asked);
      return `plans/${ID}`;
    },
    shown: async (on) => (await on.textsOf(on.page.locator('main .count'))).toSorted(),
    // The groups that stay as they are get the new version in place.
    told: async () => ['2 to place', '5 to update in place'],
  },
  {
    name: 'the topology',
    path: 'topology',
    shown: (on) => on.textsOf(on.page.locator('section.datacenter > .head .sum')),
    told: async (of) => {
      const groups = Map.groupBy(await of.nodes(), ({ Datacenter }) => Datacenter as string);
      return [...groups]
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([, nodes]) => {
          const sum = (what: 'capacity' | 'held', resource: string): number =>
            nodes
              .filter(({ Status }) => Status !== 'down')
              .reduce((total, node) => total + node[what][resource], 0);
          const others = countBy(nodes, wordOfNode);
          delete others.ready;
          return [
            `${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`,
            ...Object.entries(others).map(([word, count]) => `${count} ${word}`),
            ...Object.entries({ CPU: 'CPU', Memory: 'MemoryMB', Disk: 'DiskMB' }).map(
              ([title, resource]) =>
                `${title} ${share(sum('held', resource), sum('capacity', resource))}`,
            ),
          ].join(' ');
        });
    },
  },
  {
    name: 'the list of services, the worst first',
    path: 'services?namespace=default&sort=-health',
    shown: async (on) => ({
      foot: await on.foot(),
      rows: (await on.column('Services', 'Service', 'Instances')).slice(0, 20),
    }),
    told: async (of) => {
      const [{ Services }] = await of.list('services');
      const told = (Services as Row[]).map(async ({ ServiceName }) => {
        const found = await of.list(`service/${ServiceName}`);
        const counts = countBy(found, ({ Status }) => Status);
        const { critical = 0, warning = 0 } = counts;
        const said = critical === 0 ? `${found.length}` : `${critical} critical of ${found.length}`;
        return { key: [critical, warning, ServiceName], row: `${ServiceName}: ${said}` };
      });
      const sorted = (await Promise.all(told)).toSorted(({ key: [a, b, c] }, { key: [d, e, f] }) =>
        a !== d ? d - a : b !== e ? e - b : f < c ? -1 : 1,
      );
      return {
        foot: `100 of ${manyServices} rows, sorted`,
        rows: sorted.slice(0, 20).map(({ row }) => row),
      };
    },
  },
  {
    name: 'a service',
    path: 'services/service-119?namespace=default',
    shown: async (on) => ({
      parts: await on.barIn(on.page.locator('.health')),
      foot: (await on.foot()).split(',')[0],
    }),
    told: async (of) => {
      const found = await of.list('service/service-119');
      return {
        parts: words(countBy(found, ({ Status }) => Status)),
        foot: `${found.length} rows`,
      };
    },
  },
  {
    name: 'the servers',
    path: 'servers',
    shown: async (on) => {
      const all = await on.textsOf(on.page.locator('table.plain tbody tr'));
      return all
        .map((one) => one.split(' '))
        .filter(([name]) => ['jobs', 'nodes', 'allocations', 'namespaces'].includes(name!))
        .map(([name, count]) => `${name}: ${count}`)
        .toSorted();
    },
    told: async (of) => {
      const lengthOf = async (path: string) => inWords((await of.list(path)).length);
      return [
        `allocations: ${await lengthOf('allocations?namespace=*')}`,
        `jobs: ${await lengthOf('jobs?namespace=*')}`,
        `namespaces: ${await lengthOf('namespaces')}`,
        `nodes: ${await lengthOf('nodes')}`,
      ];
    },
  },
  ...(
    [
      ['configuration', 'Configuration entries', 'Changed at index', 'config'],
      ['variables', 'Variables', 'Path', 'vars'],
      ['namespaces', 'Namespaces', '', 'namespaces'],
      ['partitions', 'Partitions', '', 'partitions'],
    ] as const
  ).map(
    ([path, label, title, list]): View => ({
      name: `the list of ${label.toLowerCase()}`,
      path,
      shown: async (on) => ({
        foot: (await on.foot()).split(',')[0],
        cells: title === '' ? [] : (await on.column(label, title)).toSorted(),
      }),
      told: async (of) => {
        const all = await of.list(list);
        const cellOf = (row: Row) => String(title === 'Path' ? row.Path : (row.Name ?? ''));
        return {
          foot: `${all.length} ${all.length === 1 ? 'row' : 'rows'}`,
          cells:
            title === ''
              ? []
              : all
                  .map((row) =>
                    title === 'Changed at index' ? String(row.ModifyIndex) : cellOf(row),
                  )
                  .toSorted(),
        };
      },
    }),
  ),
];
