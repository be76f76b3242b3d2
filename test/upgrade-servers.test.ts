/** Servers that are upgraded one by one, under load. */
import { afterEach, expect, test } from 'vitest';
import type { Namespace } from '../src/model/namespace/namespace.ts';
import type { AnyDefinition } from '../src/state/table.ts';
import { allTables, namespaces } from '../src/state/tables.ts';
import type { Stamps, TableDefinition } from '../src/state/types.ts';
import { rootToken } from './support/api.ts';
import { type LocalAgent, LocalCluster } from './support/local-cluster.ts';

/** The next build: a field and a version more in a table, and a table more. */
type NextNamespace = Namespace & { readonly Motto?: string; readonly Note?: string };
const nextNamespaces: TableDefinition<NextNamespace> = {
  ...(namespaces as TableDefinition<NextNamespace>),
  version: namespaces.version + 1,
  upcast: (row, version) => ({
    ...(version < namespaces.version ? namespaces.upcast!(row, version) : (row as Namespace)),
    Motto: 'none',
  }),
  downcast: ({ Motto: _, ...row }) => row,
};
interface Motto extends Stamps {
  readonly ID: string;
}
const mottos: TableDefinition<Motto> = {
  name: 'mottos',
  version: 1,
  key: ({ ID }) => [ID],
  indexes: {},
};
const nextTables: readonly AnyDefinition[] = [
  ...allTables.map((table) => (table.name === namespaces.name ? nextNamespaces : table)),
  mottos,
];

const addresses = ['10.0.0.1:1', '10.0.0.2:1', '10.0.0.3:1'];
let cluster: LocalCluster;
let running: (LocalAgent | undefined)[];
let isLoaded: boolean;
/** Names that were acknowledged. */
let written: string[];

afterEach(async () => {
  isLoaded = false;
  await cluster.close();
});

const start = async (at: number, program: 'old' | 'new') => {
  const next = program === 'new' && { tables: nextTables, version: '2.0.0' };
  const network = { address: addresses[at]! };
  running[at] = await cluster.start({ network, version: '1.0.0', ...next });
};

/** The server starts again, with that program. */
const restart = async (at: number, program: 'old' | 'new') => {
  await cluster.kill(running[at]!);
  await start(at, program);
};

/** Writes a namespace from time to time, by whichever server. */
function load(): void {
  let count = 0;
  const next = () => {
    const server = cluster.servers[count % cluster.servers.length];
    if (!isLoaded || server === undefined) return;
    const Name = `load-${count++}`;
    const again = () => void cluster.world.timers.after(500, next);
    void Promise.resolve(
      server.agent.handle({
        method: 'PUT',
        path: `/v1/namespace/${Name}`,
        query: '',
        headers: { 'x-registry-token': rootToken },
        body: Buffer.from(JSON.stringify({ Name })),
      }),
    ).then(({ status }) => {
      if (status === 200) written.push(Name);
      again();
    }, again);
  };
  cluster.world.timers.after(500, next);
}

async function three(): Promise<void> {
  cluster = new LocalCluster();
  running = [];
  written = [];
  isLoaded = true;
  for (const at of addresses.keys()) await start(at, 'old');
  load();
  await cluster.world.advance(30_000);
}

const upgrade = async () =>
  (await cluster.call(cluster.leader, 'GET', '/v1/operator/upgrade')).json;
const lead = async (at: number) => {
  while (cluster.leader !== running[at]) {
    cluster.log.depose();
    await cluster.world.advance(1000);
  }
};
const versionsWritten = () => {
  const text = cluster.log.records.map(({ bytes }) => Buffer.from(bytes).toString()).join();
  return [
    ...new Set([...text.matchAll(/\["namespaces",(\d+)/g)].map(([, found]) => Number(found))),
  ];
};
/** A row of the next build, written by its leader. */
const writeNext = (Name: string) =>
  cluster.during(
    cluster.leader.agent.state.write((transaction) => {
      const table = transaction.table(nextNamespaces);
      const row = table.get('default', 'default')!;
      return table.put({ ...row, Name, Motto: 'onward', Note: 'kept' });
    }),
  );
const shownBy = (at: number, Name: string) =>
  running[at]!.agent.state.read().table(nextNamespaces).get('default', Name);

async function expectWritten(): Promise<void> {
  await cluster.world.advance(5000);
  expect(written.length).toBeGreaterThan(10);
  for (const { agent } of cluster.servers) {
    const rows = agent.state.read().table(namespaces);
    expect(written.filter((name) => !rows.has('default', name))).toEqual([]);
    expect(agent.state.closed).toBeUndefined();
  }
}

test('an upgrade goes in, half in, back, in, and is finished', async () => {
  await three();
  expect(await upgrade()).toMatchObject({ Final: true, Hold: false });
  // Half in, and the newer program leads.
  await restart(0, 'new');
  await lead(0);
  await cluster.world.advance(30_000);
  expect((await upgrade()).Pending).toEqual([
    { Table: 'namespaces', Written: 2, Newest: 3 },
    { Table: 'mottos', Written: 0, Newest: 1 },
  ]);
  await writeNext('half');
  await cluster.world.advance(5000);
  expect(shownBy(0, 'half')).toMatchObject({ Motto: 'none', Note: 'kept' });
  expect(shownBy(1, 'half')).toMatchObject({ Note: 'kept' });
  expect(shownBy(1, 'half')).not.toHaveProperty('Motto');
  expect(versionsWritten()).toEqual([2]);
  await expectWritten();
  // Back, and the older program leads.
  await restart(0, 'old');
  await lead(1);
  await expectWritten();
  expect(shownBy(0, 'half')).toMatchObject({ Note: 'kept' });
  // In: each server takes the place of its older program.
  for (const at of addresses.keys()) await restart(at, 'new');
  await cluster.world.advance(30_000);
  expect(await upgrade()).toMatchObject({ Final: true, Pending: [] });
  await writeNext('whole');
  await cluster.world.advance(5000);
  for (const at of addresses.keys())
    expect(shownBy(at, 'whole')).toMatchObject({ Motto: 'onward' });
  expect(versionsWritten()).toEqual([2, 3]);
  await expectWritten();
  // The older program cannot come back.
  await cluster.kill(running[2]!);
  await expect(start(2, 'old')).rejects.toThrow('table namespaces has version 3');
  await start(2, 'new');
  await expectWritten();
});

test('an operator holds an upgrade, and finishes it without a server that is away', async () => {
  await three();
  const put = (path: string, body?: object) =>
    cluster.call(cluster.leader, 'PUT', `/v1/operator/upgrade/${path}`, body);
  expect((await put('hold', { Hold: true })).json).toMatchObject({ Hold: true });
  for (const at of addresses.keys()) await restart(at, 'new');
  await cluster.world.advance(60_000);
  expect(await upgrade()).toMatchObject({ Final: false, Hold: true });
  // A server of the older program comes, and holds up the end of the upgrade.
  await restart(2, 'old');
  await lead(0);
  await cluster.world.advance(30_000);
  const blocked = await put('finalize');
  expect([blocked.status, blocked.json.code]).toEqual([409, 'upgrade-blocked']);
  expect(blocked.json.detail).toContain('1.0.0');
  await cluster.kill(running[2]!);
  expect((await put('hold', { Hold: false })).json).toMatchObject({ Hold: false, Final: false });
  await cluster.world.advance(60_000);
  expect(await upgrade()).toMatchObject({ Final: false });
  expect((await put('finalize')).json).toMatchObject({ Final: true, Hold: false });
  await expectWritten();
  expect(versionsWritten()).toEqual([2, 3]);
});

test('a server that no longer reads what the others write answers nothing, and says why', async () => {
  await three();
  await restart(0, 'new');
  await lead(0);
  // As if the upgrade had been finished while this server was cut off.
  await cluster.during(
    cluster.leader.agent.state.write((transaction) => {
      const table = transaction.table(allTables.find(({ name }) => name === 'cluster-version')!);
      const row = table.get('version') as unknown as { Tables: object };
      table.put({ ...row, Tables: { ...row.Tables, mottos: 1 } } as never);
    }),
  );
  await cluster.world.advance(5000);
  const answer = await cluster.call(running[1]!, 'GET', '/v1/jobs');
  expect([answer.status, answer.json.code]).toEqual([503, 'not-ready']);
  expect(answer.json.detail).toContain('mottos 1');
  expect((await cluster.call(running[0]!, 'GET', '/v1/jobs')).status).toBe(200);
});
