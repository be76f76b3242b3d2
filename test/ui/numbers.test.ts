/** Every number that a page shows is the number that the raw lists of the API give at the same moment. */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/agent.ts';
import { drawn } from '../support/draw.ts';
import type { Fleet } from '../support/fleet.ts';
import { signIn, uiIsThere } from '../support/ui.ts';
import { UiTests } from '../support/ui-tests.ts';
import {
  amount,
  countBy,
  inWords,
  isOver,
  makeNumbers,
  manyJobs,
  manyServices,
  type Row,
  share,
  Truth,
  wordOfNode,
} from './numbers.test-helper.ts';

const ui = new UiTests();
let fleet: Fleet;
let truth: Truth;
/** Of a token that may read one namespace and nothing else. */
let narrow: { readonly token: string; readonly truth: Truth };
let page: Page;

beforeAll(async () => {
  fleet = await makeNumbers(ui);
  truth = new Truth(ui);
  const Rules = 'namespace "team" { policy = "read" }';
  await ui.made('acl/policy', { Name: 'narrow', Rules });
  const { SecretID } = await ui.made('acl/token', { Policies: [{ Name: 'narrow' }] });
  narrow = { token: SecretID, truth: new Truth(ui, SecretID) };
  page = await (await ui.browser.window()).newPage();
  await uiIsThere(ui.agent.address);
  await go('settings');
  await signIn(page, ui.agent.token);
}, 60_000);

const go = (path: string) => page.goto(`${ui.agent.address}/ui/${path}`);

/** Goes there as a link does, so that the page keeps its token. */
async function show(path: string): Promise<void> {
  await page.evaluate((address) => {
    for (const to of ['settings', address]) {
      const link = document.createElement('a');
      link.href = to === '' ? './' : to;
      document.body.append(link);
      link.click();
      link.remove();
    }
  }, path);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** The rows of the table, by the titles of its columns. */
const rows = (label: string): Promise<Record<string, string>[]> =>
  page
    .getByRole('table', { name: label, exact: true })
    .locator('tr.list-row')
    .evaluateAll((all) =>
      all.map((row) =>
        Object.fromEntries(
          [...row.querySelectorAll<HTMLElement>('td[data-title]')].map((cell) => [
            cell.dataset.title,
            (cell.textContent ?? '').replace(/\s+/g, ' ').trim(),
          ]),
        ),
      ),
    );
const column = async (label: string, ...titles: readonly string[]): Promise<string[]> =>
  (await rows(label)).map((row) => titles.map((title) => row[title]).join(': '));
/** Texts as they are seen, on one line each. */
const textsOf = async (of: Locator): Promise<string[]> =>
  (await of.allInnerTexts()).map((one) => one.replace(/\s+/g, ' ').trim());
const firstOf = async (of: Locator): Promise<string> => (await textsOf(of))[0] ?? '';
const foot = (): Promise<string> => firstOf(page.locator('.foot bdi'));
const text = (selector: string): Promise<string> => firstOf(page.locator(selector));
const words = (of: Readonly<Record<string, number>>): string[] =>
  Object.entries(of)
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${inWords(count)} ${word}`)
    .toSorted();
/** What a bar says to those who do not see it: `3 running, 1 failed`. */
const bar = (said: string | null): string[] =>
  /^no/.test(said ?? 'no') ? [] : said!.split(', ').toSorted();
const barIn = async (selector: string): Promise<string[]> =>
  bar(await page.locator(selector).getByRole('img').first().getAttribute('aria-label'));

interface View {
  readonly name: string;
  readonly path: string | (() => Promise<string>);
  readonly isNarrow?: boolean;
  /** What the page shows, and what the API says. */
  readonly shown: () => Promise<unknown>;
  readonly told: (truth: Truth) => Promise<unknown>;
}

const tile = async (noun: string) => ({
  sum: await text(`[data-count=${noun}]`),
  parts: await barIn(`.tile:has([data-count=${noun}])`),
});
const overviewShown = async () => ({
  jobs: await tile('jobs'),
  allocations: await tile('allocations'),
  nodes: await tile('nodes'),
  ended: (await text('.ended')).replace('Ended, and kept: ', '').split(', ').toSorted(),
  given: await textsOf(page.locator('.room dl > div')),
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

/** `name: running/wanted` of each job of the namespace. */
async function jobsTold(of: Truth, namespace: string): Promise<string[]> {
  const stubs = await of.list(`jobs?namespace=${namespace}`);
  const told = stubs
    .filter(({ ParentID }) => ParentID === '')
    .map(async ({ ID, Namespace }) => {
      const job = await of.read(`job/${ID}?namespace=${Namespace}`);
      return `${ID}: ${await countsOf(of, job)}: ${job.Priority}: ${job.Version}`;
    });
  return (await Promise.all(told)).toSorted();
}

async function countsOf(of: Truth, job: Row): Promise<string> {
  const { ID, Namespace, Type } = job;
  if (job.Periodic !== null || job.ParameterizedJob !== null) {
    const children = await of.list(`jobs?namespace=${Namespace}&prefix=${ID}/`);
    return children.length === 0
      ? 'none'
      : `${children.length} ${children.length === 1 ? 'child' : 'children'}`;
  }
  // Allocations of earlier versions that have ended were replaced, or stopped.
  const now = (await of.allocationsOf(Namespace, ID)).filter(
    ({ ClientStatus, JobVersion }) => JobVersion === job.Version || !isOver(ClientStatus),
  );
  if (now.length === 0 && job.Stop) return 'none';
  const counts = countBy(now, (one) => one.ClientStatus);
  const wanted = job.TaskGroups.reduce((sum: number, { Count }: Row) => sum + Count, 0);
  const { running = 0, complete = 0, failed = 0, pending = 0 } = counts;
  if (Type === 'service' && !job.Stop) return `${running}/${wanted}`;
  const isDone = running === 0 && job.Status === 'dead';
  return `${isDone ? complete : running}/${running + complete + failed + pending}`;
}

/** The groups of a job: how many run, and the parts of the bar. */
const groupsShown = async () =>
  Promise.all(
    (await page.locator('ul.groups > li').all()).map(async (group) => {
      const said = await group.getByRole('img').first().getAttribute('aria-label');
      const numbers = await firstOf(group.locator('.numbers'));
      return { numbers, going: bar(said).filter((part) => / running$/.test(part)) };
    }),
  );
async function groupsTold(of: Truth, id: string) {
  const [job, summary] = await Promise.all([of.read(`job/${id}`), of.read(`job/${id}/summary`)]);
  const allocations = await of.allocationsOf('default', id);
  return job.TaskGroups.map(({ Name, Count }: Row) => {
    const own = allocations.filter(({ TaskGroup }) => TaskGroup === Name);
    const running = own.filter(({ ClientStatus }) => ClientStatus === 'running').length;
    const wanted = job.Stop ? 0 : Count;
    const isCounted = job.Type === 'service' && running <= wanted;
    const queued = summary.Summary[Name]?.Queued ?? 0;
    const has =
      job.Type === 'system'
        ? `${running} running`
        : isCounted
          ? `${running} of ${wanted} running`
          : `${running} running, ${wanted} wanted`;
    const waits = queued === 0 ? '' : ` ${queued} ${queued === 1 ? 'waits' : 'wait'} for a node`;
    return { numbers: `${has}${waits}`, going: running === 0 ? [] : [`${running} running`] };
  });
}

const ofJob = (id: string): View => ({
  name: `the groups of the job ${id}`,
  path: `jobs/default/${id}`,
  shown: groupsShown,
  told: (of) => groupsTold(of, id),
});

const tabCount = (name: string): Promise<string> =>
  firstOf(page.getByRole('tab', { name }).locator('.count'));

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

const views: readonly View[] = [
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
    shown: async () => ({ jobs: await tile('jobs'), allocations: await tile('allocations') }),
    told: async (of) => {
      const { jobs, allocations } = await overviewTold(of, '*');
      expect(jobs.sum).toBe('1');
      return { jobs, allocations };
    },
  },
  {
    name: 'the list of jobs',
    path: 'jobs?namespace=default',
    shown: async () =>
      (await column('Jobs', 'Job', 'Allocations', 'Priority', 'Version')).toSorted(),
    told: (of) => jobsTold(of, 'default'),
  },
  {
    name: 'the list of jobs of a token that may read a namespace',
    path: 'jobs',
    isNarrow: true,
    shown: async () =>
      (await column('Jobs', 'Job', 'Allocations', 'Priority', 'Version')).toSorted(),
    told: (of) => jobsTold(of, '*'),
  },
  ...['web', 'half', 'fails', 'waits', 'done', 'everywhere', 'huge', 'stopped'].map(ofJob),
  {
    name: 'the tabs of a job',
    path: 'jobs/default/half',
    shown: async () => ({ allocations: await tabCount('Allocations') }),
    told: async (of) => ({
      allocations: String((await of.allocationsOf('default', 'half')).length),
    }),
  },
  {
    name: 'the launches of a job',
    path: 'jobs/default/form?tab=launches',
    shown: async () => ({ count: await tabCount('Launches'), foot: (await foot()).split(',')[0] }),
    told: async (of) => {
      const { length } = await of.list('jobs?prefix=form/');
      return { count: String(length), foot: `${length} rows` };
    },
  },
  {
    name: 'the scale of a job',
    path: 'jobs/default/half?tab=scale',
    shown: async () => ({
      pairs: await textsOf(page.locator('dl').first().locator('dt, dd')),
      changes: await textsOf(page.locator('table.plain tbody td:nth-child(2)')),
    }),
    told: async (of) => {
      const job = await of.read('job/half');
      const all = await of.allocationsOf('default', 'half');
      const now = all.filter((one) => !isOver(one.ClientStatus));
      const health = (wanted: boolean) =>
        String(now.filter(({ DeploymentStatus: one }) => one?.Healthy === wanted).length);
      const running = now.filter(({ ClientStatus }) => ClientStatus === 'running').length;
      const pairs = {
        Wanted: String(job.TaskGroups[0].Count),
        Placed: String(now.length),
        Running: String(running),
        Healthy: health(true),
        Unhealthy: health(false),
        Bounds: 'none: no scaling policy',
      };
      return { pairs: Object.entries(pairs).flat(), changes: ['3 → 4', '4 → 3'] };
    },
  },
  {
    name: 'the evaluations of a job',
    path: 'jobs/default/half?tab=evaluations',
    shown: async () => (await text('[role=tabpanel] .row .muted')).split(',')[0],
    told: async (of) => `${(await of.list('job/half/evaluations')).length} evaluations`,
  },
  {
    name: 'the deployments of a job with canaries',
    path: 'jobs/default/canaries?tab=deployments',
    shown: () => textsOf(page.locator('[role=tabpanel] .group .spread')),
    told: async (of) => {
      const found = await of.list('job/canaries/deployments');
      const all = found.toSorted((left, right) => right.CreateIndex - left.CreateIndex);
      return all.map(({ TaskGroups: { main } }: Row) =>
        main.DesiredCanaries > 0 && !main.Promoted
          ? `${main.HealthyAllocs} of ${main.DesiredCanaries} canaries healthy`
          : `${main.HealthyAllocs} of ${main.DesiredTotal} healthy`,
      );
    },
  },
  {
    name: 'the list of allocations',
    path: 'allocations',
    shown: async () => ({
      foot: (await foot()).split(',')[0],
      rows: (await column('Allocations', 'Allocation', 'Status', 'Version')).toSorted(),
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
    shown: async () => ({
      states: (await textsOf(page.locator('fieldset.states button'))).toSorted(),
      nodes: (await column('Nodes', 'Node', 'Status', 'Allocations', 'CPU', 'Memory'))
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
    path: async () => `nodes/${(await truth.nodes()).find(({ Name }) => Name === 'n1')!.ID}`,
    shown: async () => ({
      amounts: await textsOf(page.locator('.held.words .amounts > span:first-child')),
      shares: await textsOf(page.locator('.held.words .share')),
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
    path: async () =>
      `nodes/${(await truth.nodes()).find(({ Name }) => Name === 'n1')!.ID}?tab=allocations`,
    shown: async () => ({
      foot: (await foot()).split(',')[0],
      rows: (await column('Allocations of the node', 'Allocation', 'CPU', 'Memory')).toSorted(),
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
    path: async () => {
      const asked = { Kind: 'scale', JobID: 'web', Group: 'front', Count: 5 };
      const { ID } = await ui.answer<{ ID: string }>('POST', 'plan', asked);
      return `plans/${ID}`;
    },
    shown: async () => (await textsOf(page.locator('main .count'))).toSorted(),
    // The groups that stay as they are get the new version in place.
    told: async () => ['2 to place', '5 to update in place'],
  },
  {
    name: 'who has a policy',
    path: async () => {
      const all = await truth.list('acl/policies');
      return `access/policies/${all.find(({ Name }) => Name === 'narrow')!.ID}`;
    },
    shown: () => firstOf(page.locator('section:has-text("Tokens that have it") .muted')),
    told: async (of) => {
      const all = await of.list('acl/tokens');
      const has = (one: Row) => one.Policies?.some(({ Name }: Row) => Name === 'narrow');
      return String(all.filter(has).length);
    },
  },
  {
    name: 'the topology',
    path: 'topology',
    shown: () => textsOf(page.locator('section.datacenter > .head .sum')),
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
    shown: async () => ({
      foot: await foot(),
      rows: (await column('Services', 'Service', 'Instances')).slice(0, 20),
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
    shown: async () => ({ parts: await barIn('.health'), foot: (await foot()).split(',')[0] }),
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
    shown: async () => {
      const all = await textsOf(page.locator('table.plain tbody tr'));
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
      ['access/tokens', 'Tokens', '', 'acl/tokens'],
      ['access/policies', 'Policies', '', 'acl/policies'],
    ] as const
  ).map(
    ([path, label, title, list]): View => ({
      name: `the list of ${label.toLowerCase()}`,
      path,
      shown: async () => ({
        foot: (await foot()).split(',')[0],
        cells: title === '' ? [] : (await column(label, title)).toSorted(),
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

test.each(drawn(views))('$name', async ({ path, isNarrow, shown, told }) => {
  const of = isNarrow ? narrow.truth : truth;
  if (isNarrow) await enter(narrow.token);
  try {
    await show(typeof path === 'string' ? path : await path());
    await eventually(async () => {
      await fleet.beat();
      expect(await shown()).toEqual(await told(of));
    });
  } finally {
    if (isNarrow) await enter(ui.agent.token);
  }
});

async function enter(token: string): Promise<void> {
  await page.evaluate(() => sessionStorage.clear());
  await go('settings');
  await signIn(page, token);
}

test('a list of more rows than a window has says how many of how many', async () => {
  await show('jobs?namespace=many');
  const more = page.getByRole('button', { name: 'Load 100 more' });
  for (const count of [100, 200, 300, 400]) {
    await expect.poll(foot).toBe(`${count} of ${manyJobs} rows, newest change first`);
    // Not all rows are here, so they are not sorted by what the server does not sort.
    expect(await page.getByRole('button', { name: 'Status', exact: true }).count()).toBe(0);
    await more.click();
  }
  await expect.poll(foot).toBe(`500 of ${manyJobs} rows, newest change first`);
  await page.getByRole('button', { name: 'Next 500 rows' }).click();
  await expect.poll(foot).toBe(`3 of ${manyJobs} rows, newest change first`);
});
