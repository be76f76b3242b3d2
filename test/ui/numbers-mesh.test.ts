/** Every number of the pages of peerings, intentions and events is the number that the raw lists of the API give. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { Event } from '../../src/model/event/event.ts';
import { createClient } from '../../src/sdk/client.ts';
import { type Agent, eventually, startAgent } from '../support/agent.ts';
import { httpPort, idle, job } from '../support/jobs.ts';
import { openUi, signIn } from '../support/ui.ts';
import { UiTests } from '../support/ui-tests.ts';
import { countBy, type Row, Truth } from './numbers.test-helper.ts';
import { Shown } from './numbers-shown.test-helper.ts';

/** The cluster that exports, and the one that imports. */
const ui = new UiTests();
let west: Agent;
let truth: Truth;

const serviceNames = Array.from({ length: 7 }, (_, at) => `shop-${at}`);
const exportedNames = serviceNames.slice(0, 5);
/** More called services than a window of the list has room for. */
const calledCount = 130;
const matrixMax = 50;

beforeAll(async () => {
  west = await startAgent({ args: ['--server-only'] });
  truth = new Truth(ui);
  const Services = serviceNames.map((Name) => ({ Name, PortLabel: 'http' }));
  await ui.agent.register(job('shop', { group: { Networks: httpPort, Services }, task: idle }));
  const { PeeringToken } = await ui.answer<{ PeeringToken: string }>('POST', 'peering/token', {
    PeerName: 'west',
  });
  const established = await west.request('POST', '/v1/peering/establish', {
    PeerName: 'east',
    PeeringToken,
  });
  expect([established.status, established.json]).toMatchObject([200, {}]);
  const exported = exportedNames.map((Name) => ({ Name, Consumers: [{ Peer: 'west' }] }));
  await ui.made('config', { Kind: 'exported-services', Name: 'default', Services: exported });
});

async function shown(agent: Agent, path: string): Promise<Shown> {
  const page = await openUi(ui.browser, { address: agent.address, path });
  await signIn(page, agent.token);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return new Shown(page);
}

/** The rows of a raw list of the other cluster. */
const ofWest = async (path: string): Promise<Row[]> => (await west.request('GET', path)).json;
const peeringRow = async (on: Shown): Promise<string[]> =>
  on.column('Peerings', 'Peering', 'Exported', 'Imported');

test('the list of peerings counts what is exported and imported, on both sides', async () => {
  const [east, there] = await Promise.all([shown(ui.agent, 'peerings'), shown(west, 'peerings')]);
  await eventually(async () => {
    const [{ Services }] = await truth.list('config?filter=Kind%20==%20`exported-services`');
    expect(await peeringRow(east)).toEqual([`west: ${Services.length}: 0`]);
    const [{ Services: imported }] = await ofWest('/v1/services?peer=east');
    expect(await peeringRow(there)).toEqual([`east: 0: ${imported.length}`]);
    expect(imported).toHaveLength(exportedNames.length);
  });
});

test('a peering counts its services, and says of each whether it is exported', async () => {
  const on = await shown(ui.agent, 'peerings/west?tab=exported');
  await eventually(async () => {
    const [{ Services: all }] = await truth.list('services');
    const [{ Services: exported }] = await truth.list(
      'config?filter=Kind%20==%20`exported-services`',
    );
    const names = new Set(exported.map(({ Name }: Row) => Name));
    expect([await on.tabCount('Exported'), await on.tabCount('Imported')]).toEqual([
      String(names.size),
      '0',
    ]);
    expect((await on.foot()).split(',')[0]).toBe(`${all.length} rows`);
    expect(await on.column('Services of this cluster', 'Service', 'Exported')).toEqual(
      all.map(
        ({ ServiceName }: Row) =>
          `${ServiceName}: ${names.has(ServiceName) ? 'Exported' : 'Not exported'}`,
      ),
    );
  });
  const other = await shown(west, 'peerings/east?tab=imported');
  await eventually(async () => {
    const [{ Services: imported }] = await ofWest('/v1/services?peer=east');
    const counts = [await other.tabCount('Exported'), await other.tabCount('Imported')];
    expect(counts).toEqual(['0', String(imported.length)]);
    expect((await other.foot()).split(',')[0]).toBe(`${imported.length} rows`);
    expect(await other.column('Services of the peer', 'Service')).toEqual(
      imported.map(({ ServiceName }: Row) => ServiceName),
    );
  });
});

/** Callers of each called service: of a name, of every name, and of the peer. */
async function makeIntentions(): Promise<void> {
  const called = Array.from(
    { length: calledCount },
    (_, at) => `api-${String(at).padStart(3, '0')}`,
  );
  const atOnce = 10;
  for (let from = 0; from < calledCount; from += atOnce) {
    await Promise.all(
      called.slice(from, from + atOnce).map((Name, at) =>
        ui.made('config', {
          Kind: 'service-intentions',
          Name,
          Sources: [
            { Name: 'shop-0', Action: 'allow' },
            ...(at % 2 === 0 ? [{ Name: '*', Action: 'deny' }] : []),
            ...(at % 5 === 0 ? [{ Name: 'till', Peer: 'west', Action: 'allow' }] : []),
          ],
        }),
      ),
    );
  }
}

const intentionsOf = 'config?per_page=500&filter=Kind%20==%20`service-intentions`';

test('the list of intentions counts rows and called services, and has the precedence of each', async () => {
  await makeIntentions();
  const on = await shown(ui.agent, 'intentions?tab=list');
  const windowMax = 100;
  await eventually(async () => {
    const entries = await truth.list(intentionsOf);
    const window = entries.slice(0, windowMax);
    const told = window.flatMap(({ Name, Sources }) =>
      Sources.map((source: Row) => `${source.Name}: ${Name}: ${source.Precedence}`),
    );
    expect(entries).toHaveLength(calledCount);
    expect(await on.foot()).toBe(
      `${told.length} rows of ${windowMax} of ${entries.length} called services, by called service and precedence`,
    );
    const rows = await on.column('Intentions', 'Caller', 'Called service', 'Precedence');
    // The page draws the rows of the screen.
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.map((row) => row.replace(' of the peer west', ''))).toEqual(
      told.slice(0, rows.length),
    );
  });
});

test('the matrix counts the services, and decides each call as the server does', async () => {
  const on = await shown(ui.agent, 'intentions');
  const names = async () => {
    const entries = await truth.list(intentionsOf);
    const [{ Services }] = await truth.list('services');
    const local = entries.flatMap(({ Name, Sources }) => [
      Name,
      ...Sources.filter(({ Peer }: Row) => (Peer ?? '') === '').map(
        ({ Name: source }: Row) => source,
      ),
    ]);
    const running = Services.map(({ ServiceName }: Row) => ServiceName);
    return new Set<string>([...local, ...running].filter((name) => name !== '*'));
  };
  await eventually(async () => {
    const { size } = await names();
    const said = `${matrixMax} of ${size} services of the namespace default`;
    expect(await on.text('.choices p')).toBe(said);
  });
  await on.page.getByLabel('Services', { exact: true }).fill('shop api-00');
  const chosen = [...(await names())].filter((name) => /^(shop|api-00)/.test(name)).toSorted();
  await eventually(async () => {
    expect(await on.text('.choices p')).toBe(`${chosen.length} services of the namespace default`);
    expect(await cellsOf(on.page)).toHaveLength(chosen.length ** 2);
  });
  const words = new Map(await cellsOf(on.page));
  for (const [from, to] of [
    ['shop-0', 'api-000'],
    ['shop-1', 'api-000'],
    ['shop-1', 'api-001'],
    ['api-001', 'shop-3'],
  ] as const) {
    const check = await truth.read(`connect/intentions/check?source=${from}&destination=${to}`);
    const decided = check.Allowed ? 'allowed' : 'denied';
    expect([from, to, words.get(`Calls of ${from} to ${to}`)]).toEqual([
      from,
      to,
      check.Intention === null ? `${decided} by default` : decided,
    ]);
  }
});

/** The names of the cells with their words. */
const cellsOf = async (page: Page): Promise<[string, string][]> => {
  const labels = await page
    .getByRole('grid')
    .locator('button')
    .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''));
  return labels.map((label) => label.split(': ') as [string, string]);
};

test('events are counted as the raw stream has them', async () => {
  const on = await shown(ui.agent, 'events?topic=Variable');
  await on.page.getByText('events a second').waitFor();
  const ending = new AbortController();
  const { signal } = ending;
  const client = createClient({ address: ui.agent.address, token: ui.agent.token });
  const raw: Event[] = [];
  const { index = 0 } = await client.namespaces.list();
  const reading = (async () => {
    const events = client.events.follow({ topics: ['Variable'], index: index + 1, signal });
    for await (const { Events = [] } of events) raw.push(...Events);
  })().catch(() => {});
  for (const path of ['one', 'two', 'three']) {
    await ui.made(`var/${path}`, { Items: { a: path } });
  }
  await ui.ask('DELETE', 'var/two');
  await eventually(async () => {
    expect(raw).toHaveLength(4);
    expect(await on.text('[data-testid=counts]')).toBe(
      `${raw.length} received · ${raw.length} shown`,
    );
    expect(await on.column('Events', 'Topic', 'Type', 'Of', 'Namespace', 'Index')).toEqual(
      raw
        .toReversed()
        .map((event) =>
          [
            event.Topic,
            event.Type,
            event.Key,
            event.Namespace,
            event.Index.toLocaleString('en'),
          ].join(': '),
        ),
    );
  });
  await on.page.getByRole('textbox', { name: 'Filter the events' }).fill('two');
  await eventually(async () => {
    const { true: shownCount = 0, false: other = 0 } = countBy(raw, ({ Key }) =>
      String(Key === 'two'),
    );
    expect(await on.text('[data-testid=counts]')).toBe(
      `${raw.length} received · ${shownCount} shown · ${other} not shown: older, or no match of the filter`,
    );
  });
  ending.abort();
  await reading;
});
