/** A damaged store from outside: what the commands print, and an agent on what they leave. */
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAgent } from '../src/agent.ts';
import { checkStore, repairStore } from '../src/agent-engines.ts';
import { needing, root } from '../src/base/not-run.test-helper.ts';
import { realWorld } from '../src/base/ports-real.ts';
import { SameThreadEngine } from '../src/state/engine/sqlite.test-helper.ts';
import { SqliteOffline } from '../src/state/engine/sqlite-offline.ts';
import { faultIn } from '../src/state/salvage/field-faults.ts';
import { rowFault } from '../src/state/salvage/row-fault.ts';
import { openState } from '../src/state/state.ts';
import { allTables, namespaces } from '../src/state/tables.ts';
import type { Stamps, TableDefinition } from '../src/state/types.ts';
import { emptyTables } from '../src/state/view.ts';
import {
  checkout,
  command,
  endAgents,
  launch,
  newDirectory,
  rootToken,
  startAgent,
} from './support/agent.ts';
import { drawn } from './support/draw.ts';

afterAll(endAgents);

const sample = join(checkout, 'test/upgrade/0.1.6');
/** A data directory with a row in every table, a snapshot, and an empty log. */
let original: string;
/** Tables that have rows in the snapshot, with the ids of their parts. */
let parts: ReadonlyMap<string, readonly number[]>;

beforeAll(async () => {
  const directory = newDirectory('original');
  execFileSync('tar', ['-xJf', join(sample, 'main.tar.xz'), '-C', directory]);
  original = join(directory, 'main');
  const engine = new SameThreadEngine({ directory: join(original, 'server') });
  const state = await openState({
    tables: allTables,
    engine,
    timers: realWorld.timers,
    limits: { logBytes: 1, logPerSnapshot: 0, snapshotPartBytes: 2_000 },
  });
  const [one] = [...state.read().table(namespaces).scan()];
  await state.write((transaction) => transaction.table(namespaces).put(one!));
  while (engine.snapshots === 0) {
    await new Promise<void>((resolve) => realWorld.timers.soon(resolve));
  }
  await state.close();
  parts = partsOf(original);
});

function partsOf(dataDirectory: string): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  const database = new DatabaseSync(join(dataDirectory, 'server/state.db'));
  for (const { id, bytes } of database.prepare('SELECT id, bytes FROM part').all()) {
    const { Table, Rows = [] } = JSON.parse(Buffer.from(bytes as Uint8Array).toString());
    if (Rows.length > 0) found.set(Table, [...(found.get(Table) ?? []), Number(id)]);
  }
  database.close();
  return found;
}

/** A copy in which the parts are illegible, and stand nowhere else. */
function without(ids: readonly number[]): string {
  const dataDirectory = newDirectory('damaged');
  cpSync(original, dataDirectory, { recursive: true });
  const database = new DatabaseSync(join(dataDirectory, 'server/state.db'));
  const hurt = database.prepare("UPDATE part SET bytes = x'00' WHERE id = ?");
  for (const id of ids) hurt.run(id);
  database.exec('VACUUM');
  database.close();
  return dataDirectory;
}

const repair = (dataDirectory: string, isWithoutRootKey = false) =>
  repairStore({
    dataDirectory,
    isWithoutRootKey,
    mayLose: true,
    world: realWorld,
    version: '0.0.0',
    progress: () => {},
  });

const reads = Object.keys(JSON.parse(readFileSync(join(sample, 'answers.json'), 'utf8')));

/** The statuses of all reads of an agent on the directory. */
async function statuses(dataDirectory: string): Promise<ReadonlyMap<string, number>> {
  const agent = await createAgent({ dataDirectory, rootToken });
  try {
    const all = new Map<string, number>();
    for (const target of reads) {
      const [path = '', query = ''] = target.split('?');
      const headers = { 'x-registry-token': rootToken };
      const { status } = await agent.handle({
        method: 'GET',
        path,
        query,
        headers,
        body: undefined,
      });
      all.set(target, status);
    }
    return all;
  } finally {
    await agent.close('stop');
  }
}

const held = Object.keys(JSON.parse(readFileSync(join(sample, 'rows.json'), 'utf8')));

test('the sample has rows in nearly every table', () => {
  expect(held.length).toBeGreaterThan(30);
  expect([...parts.keys()]).toEqual(expect.arrayContaining(held));
});

test.each(drawn(held.map((name) => ({ name }))))(
  'without the rows of $name an agent starts, and answers every read',
  async ({ name }) => {
    const dataDirectory = without(parts.get(name)!);
    const { lostPieces, repaired } = await repair(dataDirectory);
    expect(lostPieces).toHaveLength(1);
    expect(repaired?.index).toBeGreaterThan(1_000_000_000);
    const all = [...(await statuses(dataDirectory))];
    expect(all.filter(([, status]) => status >= 500)).toEqual([]);
    rmSync(dataDirectory, { recursive: true });
  },
);

test('a row with a missing field is named in every table, and stays', async () => {
  const dataDirectory = newDirectory('faulty');
  cpSync(original, dataDirectory, { recursive: true });
  const engine = new SameThreadEngine({ directory: join(dataDirectory, 'server') });
  const state = await openState({ tables: allTables, engine, timers: realWorld.timers });
  const { value: damaged } = await state.write((transaction) =>
    allTables.flatMap((definition) => {
      const table = transaction.table(definition);
      const [row] = [...table.scan()];
      const faulty = row && withoutField(definition, row, transaction.index);
      if (faulty === undefined) return [];
      table.put(faulty);
      return definition.name;
    }),
  );
  await state.close();
  const check = { dataDirectory, world: realWorld, progress: () => {} };
  const { faults, faultyRows } = await checkStore(check);
  const named = faultyRows.map(({ at }) => / of the table ([\w-]+), field /.exec(at)?.[1]);
  expect([faults, new Set(named)]).toEqual([[], new Set(damaged)]);
  // Each field of a reference is a part of its key.
  const most = held.filter((name) => name !== 'config-references');
  expect(damaged).toEqual(expect.arrayContaining(most));
  const { lostRows, repaired, faultyRows: left } = await repair(dataDirectory);
  expect([lostRows, repaired, left]).toEqual([[], undefined, faultyRows]);
});

/** The row without a field that none of its keys is made from; `undefined`: there is none. */
function withoutField(definition: TableDefinition, row: Stamps, index: number): Stamps | undefined {
  const table = emptyTables([definition]).get(definition.name)!;
  return Object.keys(row)
    .filter((field) => !['CreateIndex', 'ModifyIndex'].includes(field))
    .map((field) => {
      const { [field as keyof Stamps]: _, ...rest } = row;
      return rest as Stamps;
    })
    .find(
      (rest) =>
        rowFault(table, rest, index) === undefined && faultIn(definition.name, rest) !== undefined,
    );
}

test('without its root key a state goes on, but for its secrets, which are named', async () => {
  const dataDirectory = newDirectory('keyless');
  cpSync(original, dataDirectory, { recursive: true });
  rmSync(join(dataDirectory, 'root-key'));
  await expect(createAgent({ dataDirectory, rootToken })).rejects.toThrow('root key');
  const { lostRows } = await repair(dataDirectory, true);
  const tables = new Set(lostRows.map(({ table }) => table));
  expect([...tables]).toEqual(
    expect.arrayContaining(['keyring-keys', 'acl-tokens', 'variables', 'variable-items']),
  );
  const all = await statuses(dataDirectory);
  expect([...all.values()].filter((status) => status >= 500)).toEqual([]);
  expect(all.get('/v1/job/counter')).toBe(200);
  expect(all.get('/v1/var/db/main')).toBe(404);
});

test('a store whose state was moved elsewhere is neither checked nor repaired', async () => {
  const dataDirectory = without([]);
  const store = new SqliteOffline(join(dataDirectory, 'server'));
  await store.open();
  await store.seal({ to: 'etcd', cluster: 'c', index: 1 });
  await store.close();
  await expect(repair(dataDirectory)).rejects.toThrow('its state was moved to etcd');
});

describe('a repair by root', needing(root), () => {
  test('leaves the store to the user whose agent it is', async () => {
    const dataDirectory = without(parts.get('acl-roles')!);
    const directory = join(dataDirectory, 'server');
    chownSync(directory, 12_345, 12_346);
    await repair(dataDirectory);
    for (const path of [directory, join(directory, 'state.db')]) {
      const { uid, gid } = statSync(path);
      expect([path, uid, gid]).toEqual([path, 12_345, 12_346]);
    }
  });
});

describe('the commands', () => {
  const run = (...words: readonly string[]) => launch(command, words).ended;
  const server = (dataDirectory: string) => join(dataDirectory, 'server');

  test('say that a sound store is sound, and refuse one that an agent has', async () => {
    const dataDirectory = newDirectory('sound');
    const agent = await startAgent({ dataDirectory, args: ['--server-only'] });
    for (const word of ['check', 'repair']) {
      const refused = await run('operator', 'store', word, '--data-dir', dataDirectory);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is in use by')]);
    }
    await agent.stop();
    for (const word of ['check', 'repair']) {
      const { code, stdout } = await run('operator', 'store', word, '--data-dir', dataDirectory);
      expect([code, stdout]).toEqual([0, expect.stringContaining('is sound: index ')]);
    }
  });

  test('name what is lost, change nothing without -yes, and keep the damaged store', async () => {
    const ids = parts.get('acl-roles')!;
    const dataDirectory = without(ids);
    const words = ['--data-dir', dataDirectory];
    const bytes = readFileSync(join(server(dataDirectory), 'state.db'));
    const check = await run('operator', 'store', 'check', ...words);
    expect(check.code).toBe(1);
    expect(check.stdout).toContain('Lost with all rows in it');
    const asked = await run('operator', 'store', 'repair', ...words);
    expect([asked.code, asked.stdout]).toEqual([1, expect.stringContaining('add -yes')]);
    expect(readFileSync(join(server(dataDirectory), 'state.db'))).toEqual(bytes);
    const { code, stdout } = await run('operator', 'store', 'repair', '-yes', '-json', ...words);
    const report = JSON.parse(stdout);
    expect([code, report.Repaired]).toEqual([0, true]);
    expect(report.LostPieces).toHaveLength(1);
    expect(readFileSync(join(report.Damaged, 'state.db'))).toEqual(bytes);
    expect(JSON.parse(readFileSync(`${report.Damaged}.json`, 'utf8')).lostPieces).toHaveLength(1);
    expect((await run('operator', 'store', 'check', ...words)).code).toBe(0);
  });

  test('an interrupted repair keeps agents from an empty store, and is finished by another', async () => {
    const dataDirectory = without(parts.get('acl-roles')!);
    await repair(dataDirectory);
    // As between the two moves of the repair.
    renameSync(server(dataDirectory), `${server(dataDirectory)}.repaired`);
    await expect(createAgent({ dataDirectory, rootToken })).rejects.toThrow('was interrupted');
    expect(existsSync(server(dataDirectory))).toBe(false);
    await repair(dataDirectory);
    expect(readdirSync(dataDirectory)).not.toContain('server.repaired');
    expect((await statuses(dataDirectory)).get('/v1/job/counter')).toBe(200);
  });

  test('an agent says of a damaged store what to do', async () => {
    const dataDirectory = without(parts.get('acl-roles')!);
    const { code, stderr } = await run(
      'agent',
      '--data-dir',
      dataDirectory,
      '--http',
      '127.0.0.1:0',
    );
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('"roster operator store check" shows what is lost'),
    ]);
  });
});
