/** The way back from this version to an earlier one: docs/operations/upgrade.md. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createAgent } from '../../src/agent.ts';
import { endAgents, newDirectory, rootToken } from '../support/agent.ts';
import { type RunningProgram, startProgram } from './program.ts';
import { readRows } from './rows.ts';

afterAll(endAgents);

const version = '0.1.4';
const headers = { 'x-registry-token': rootToken };
const later = {
  ID: 'later',
  TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: 'x' } }] }],
};

test('an earlier program refuses the data of this one by table, and goes on from its own snapshot', async () => {
  const directory = newDirectory('back');
  for (const name of ['main', 'program']) {
    const archive = join(import.meta.dirname, version, `${name}.tar.xz`);
    execFileSync('tar', ['-xJf', archive, '-C', directory]);
  }
  const dataDirectory = join(directory, 'main');
  const startEarlier = (): Promise<RunningProgram> =>
    startProgram(join(directory, 'program'), {
      token: rootToken,
      words: [
        '--server-only',
        '--data-dir',
        dataDirectory,
        '--http',
        '127.0.0.1:0',
        '--root-token',
        rootToken,
      ],
    });
  const earlier = await startEarlier();
  const snapshot = await (
    await fetch(`${earlier.address}/v1/operator/snapshot`, { headers })
  ).arrayBuffer();
  await earlier.end('SIGTERM');

  const agent = await createAgent({ dataDirectory, rootToken });
  const { status } = await agent.handle({
    method: 'PUT',
    path: '/v1/jobs',
    query: '',
    headers,
    body: Buffer.from(JSON.stringify({ Job: later })),
  });
  expect(status).toBe(200);
  await agent.close('stop');
  const rows = await readRows(join(dataDirectory, 'server'));

  await expect(startEarlier()).rejects.toThrow(
    /the stored table \S+ has version \d; this program knows up to \d/,
  );
  expect(await readRows(join(dataDirectory, 'server'))).toEqual(rows);

  renameSync(dataDirectory, `${dataDirectory}.later`);
  mkdirSync(dataDirectory);
  copyFileSync(join(`${dataDirectory}.later`, 'root-key'), join(dataDirectory, 'root-key'));
  const back = await startEarlier();
  const restored = await fetch(`${back.address}/v1/operator/snapshot?same_cluster=true`, {
    method: 'PUT',
    headers,
    body: snapshot,
  });
  expect(restored.status).toBe(200);
  expect((await back.call('GET', '/v1/job/counter')).status).toBe(200);
  expect((await back.call('GET', '/v1/var/db/main')).status).toBe(200);
  expect((await back.call('GET', '/v1/job/later')).status).toBe(404);
  await back.end('SIGTERM');
});
