/** This version opens every data directory that an earlier version wrote: README.md. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { createAgent } from '../../src/agent.ts';
import { checkStore, repairStore } from '../../src/agent-engines.ts';
import { parseDuration } from '../../src/base/duration.ts';
import { realWorld } from '../../src/base/ports-real.ts';
import { allTables } from '../../src/state/tables.ts';
import {
  type Agent,
  endAgents,
  eventually,
  newDirectory,
  processesOf,
  rootToken,
  startAgent,
  supervisorsOf,
} from '../support/agent.ts';
import { lasting } from './contents.ts';
import { startProgram } from './program.ts';
import { type Rows, readRows } from './rows.ts';

afterAll(endAgents);

const versions = readdirSync(import.meta.dirname).filter((name) => /^\d/.test(name));

test('there is a sample', () => expect(versions).toContain('0.1.0'));

/** Versions of each table in a data directory, as they stand in its log and its snapshot. */
function storedVersions(server: string, into: Map<string, Set<number>>): void {
  const database = new DatabaseSync(join(server, 'state.db'));
  const note = (table: string, version: number) =>
    into.set(table, (into.get(table) ?? new Set()).add(version));
  const parsed = (table: string) =>
    database
      .prepare(`SELECT bytes FROM ${table}`)
      .all()
      .map(({ bytes }) => JSON.parse(Buffer.from(bytes as Uint8Array).toString()));
  for (const { Table, Version } of parsed('part')) if (Table !== undefined) note(Table, Version);
  for (const batch of parsed('log') as [number, ...[string, number][]][][]) {
    for (const [, ...entries] of batch)
      for (const [table, version] of entries) note(table, version);
  }
  database.close();
}

/** Tables that only several servers write. */
const shared = ['cluster-version', 'packed-batches'];

test('every version in which a table is written, and each between it and the first sample, is in a sample', () => {
  const stored = new Map<string, Set<number>>();
  for (const version of versions) {
    storedVersions(join(unpacked(version, 'main'), 'server'), stored);
    storedVersions(unpacked(version, 'snapshot'), stored);
  }
  for (const { name, version } of allTables) {
    if (shared.includes(name)) continue;
    const found = [...(stored.get(name) ?? [])].sort();
    expect([name, found.at(-1)]).toEqual([name, version]);
    expect([name, found.length]).toEqual([name, version - found[0]! + 1]);
  }
});

/** The folder that an archive of a sample holds. */
function unpacked(version: string, name: 'main' | 'program' | 'snapshot'): string {
  const directory = newDirectory(version);
  const archive = join(import.meta.dirname, version, `${name}.tar.xz`);
  execFileSync('tar', ['-xJf', archive, '-C', directory]);
  return join(directory, name === 'snapshot' ? 'server' : name);
}

/** Later versions show these durations in nanoseconds, as typed clients read them. */
const numbersSince = ['TimeoutFilter', 'PassiveHealthCheck'];
const shownSince = (key: string, value: unknown): unknown => {
  if (!numbersSince.includes(key) || value === null) return value;
  const shown = Object.entries(value as object).map(([name, field]) => [
    name,
    (typeof field === 'string' ? parseDuration(field) : undefined) ?? field,
  ]);
  return Object.fromEntries(shown);
};

describe.each(versions)('a data directory of %s', (version) => {
  const sample = join(import.meta.dirname, version);
  const unpack = (name: 'main' | 'program' | 'snapshot') => unpacked(version, name);
  const stored = (name: string) => JSON.parse(readFileSync(join(sample, name), 'utf8'));

  test.each(['main', 'snapshot'] as const)('is read row by row (%s)', async (name) => {
    const expected: Rows = stored('rows.json');
    const folder = unpack(name);
    const found = await readRows(name === 'main' ? join(folder, 'server') : folder);
    for (const [table, rows] of Object.entries(expected)) {
      expect(rows.length, `rows of ${table} in the sample`).toBeGreaterThan(0);
      expect(found, table).toMatchObject({ [table]: rows });
    }
  });

  test('is sound, and repaired to the same rows if its structure is damaged', async () => {
    const dataDirectory = unpack('main');
    const directory = join(dataDirectory, 'server');
    const given = { dataDirectory, world: realWorld, progress: () => {} };
    expect((await checkStore(given)).faults).toEqual([]);
    const path = join(directory, 'state.db-wal');
    writeFileSync(path, readFileSync(path).fill(0, 0, 16));
    const options = { ...given, mayLose: false, isWithoutRootKey: false, version };
    expect((await repairStore(options)).repaired).toBeDefined();
    expect(await readRows(directory)).toMatchObject(stored('rows.json'));
  });

  test('gives the answers of that version, with the secrets', async () => {
    const agent = await createAgent({ dataDirectory: unpack('main'), rootToken });
    try {
      const answers = readFileSync(join(sample, 'answers.json'), 'utf8');
      for (const [target, expected] of Object.entries(JSON.parse(answers, shownSince))) {
        const [path = '', query = ''] = target.split('?');
        const { status, body } = await agent.handle({
          method: 'GET',
          path,
          query,
          body: undefined,
          headers: { 'x-registry-token': rootToken },
        });
        expect([target, status]).toEqual([target, 200]);
        expect(JSON.parse(String(body)), target).toMatchObject(expected as object);
      }
    } finally {
      await agent.close('stop');
    }
  });

  test('keeps its tasks running with an agent of this version', async () => {
    const dataDirectory = unpack('main');
    const words = [
      '--data-dir',
      dataDirectory,
      '--http',
      '127.0.0.1:0',
      '--root-token',
      rootToken,
      '--config',
      join(sample, 'agent.json'),
    ];
    const old = await startProgram(unpack('program'), { token: rootToken, words });
    const before = await eventually(async () => {
      const { json } = await old.call('GET', '/v1/allocations');
      return runningOf(json as readonly Allocation[]);
    });
    const [supervisor] = supervisorsOf(dataDirectory);
    await old.end('SIGKILL');

    const agent = await startAgent({ dataDirectory });
    const after = await agent.until('/v1/allocations', runningOf);
    expect(after.map(({ ID }) => ID)).toEqual(before.map(({ ID }) => ID));
    // The counting shell stays. The processes that it starts do not.
    for (const [place, { pids }] of before.entries()) {
      expect(pids.filter((pid) => after[place]!.pids.includes(pid))).not.toEqual([]);
    }
    expect(supervisor).toBeGreaterThan(0);
    expect(supervisorsOf(dataDirectory)).toEqual([supervisor]);
    for (const allocation of after) {
      await goesOnCounting(agent, allocation);
      const { stdout } = await agent.cli('alloc', 'exec', allocation.ID, 'echo', 'beside');
      expect(stdout).toBe('beside\n');
    }
    for (const id of lasting) await agent.cli('job', 'stop', id);
    await eventually(() => expect(after.flatMap(processesOf)).toEqual([]));
    expect((await agent.stop()).code).toBe(0);
    expect(existsSync(dataDirectory)).toBe(true);
  });
});

interface Allocation {
  readonly ID: string;
  readonly JobID: string;
  readonly ClientStatus: string;
}

/** The allocation and processes of each lasting job. Throws until all run. */
function runningOf(all: readonly Allocation[]) {
  return lasting.map((id) => {
    const found = all.filter((one) => one.JobID === id && one.ClientStatus === 'running');
    expect(found).toHaveLength(1);
    const pids = processesOf(found[0]!);
    // An allocation with the status `running` may not have been started yet.
    expect(pids).not.toEqual([]);
    return { ...found[0]!, pids };
  });
}

async function goesOnCounting(agent: Agent, { ID }: Allocation): Promise<void> {
  const last = async () => {
    const path = `/v1/client/fs/logs/${ID}?task=task&type=stdout&plain=true&origin=end&offset=40`;
    return Number((await agent.request('GET', path)).text.trim().split('\n').at(-1));
  };
  // Logs are available once the node has a stream to the new server.
  const first = await eventually(async () => {
    const number = await last();
    expect(number).toBeGreaterThan(0);
    return number;
  });
  await eventually(async () => expect(await last()).toBeGreaterThan(first));
}
