/** This version opens every data directory that an earlier version wrote: README.md. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createAgent } from '../../src/agent.ts';
import { parseDuration } from '../../src/base/duration.ts';
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
  const unpack = (name: 'main' | 'program'): string => {
    const directory = newDirectory(version);
    execFileSync('tar', ['-xJf', join(sample, `${name}.tar.xz`), '-C', directory]);
    return join(directory, name);
  };
  const stored = (name: string) => JSON.parse(readFileSync(join(sample, name), 'utf8'));

  test('is read row by row', async () => {
    const expected: Rows = stored('rows.json');
    const found = await readRows(join(unpack('main'), 'server'));
    for (const [table, rows] of Object.entries(expected)) {
      expect(rows.length, `rows of ${table} in the sample`).toBeGreaterThan(0);
      expect(found, table).toMatchObject({ [table]: rows });
    }
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
