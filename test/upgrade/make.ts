/**
 * `node tools/run.mjs test/upgrade/make.ts VERSION`: makes the sample of a data directory as the product
 * of this checkout writes it, in `test/upgrade/VERSION`. See README.md there.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unmountBelow } from '../../bench/mounts.ts';
import { realWorld } from '../../src/base/ports-real.ts';
import { SameThreadEngine } from '../../src/state/engine/sqlite.test-helper.ts';
import type { StateLimits } from '../../src/state/limits.ts';
import { openState } from '../../src/state/state.ts';
import { allTables, namespaces } from '../../src/state/tables.ts';
import { eventually, kill, processesWith } from '../support/agent.ts';
import { startOidcProvider } from '../support/oidc-provider.ts';
import { browserLogins, guess, lasting, reads, type Write, writes } from './contents.ts';
import { bundleProgram, type RunningProgram, startProgram } from './program.ts';
import { readRows } from './rows.ts';

const [, , version = ''] = process.argv;
if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('usage: make.ts VERSION');
const checkout = join(import.meta.dirname, '../..');
const sample = join(import.meta.dirname, version);
const work = mkdtempSync(join(tmpdir(), 'roster-sample-'));
const program = join(work, 'program');
const token = '11111111-1111-4111-8111-111111111111';
/** The configuration of an agent that opens the sample. */
const configuration = join(work, 'agent.json');
writeFileSync(configuration, JSON.stringify({ drivers: { allow: ['exec', 'raw_exec'] } }));
const say = (sentence: string) => console.log(sentence);

const start = (name: string, more: readonly string[] = []): Promise<RunningProgram> =>
  startProgram(program, {
    token,
    words: [
      '--data-dir',
      join(work, name),
      '--http',
      '127.0.0.1:0',
      '--root-token',
      token,
      '--node-name',
      name,
      '--config',
      configuration,
      ...more,
    ],
  });

async function write(at: RunningProgram, [method, path, body]: Write): Promise<unknown> {
  const { status, json } = await at.call(method, path, body);
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`);
  return json;
}

/** Ends an agent, its tasks and their supervisor, as a loss of power would. */
async function cut(at: RunningProgram, name: string): Promise<void> {
  await at.end('SIGKILL');
  await clear(join(work, name));
}

async function clear(directory: string): Promise<void> {
  await eventually(() => {
    const left = processesWith(directory);
    for (const pid of left) kill(pid, 'SIGKILL');
    if (left.length > 0) throw new Error('processes are left');
  });
  unmountBelow(directory);
}

/** Stores the state of a directory in a snapshot that replaces another one, with a log after it. */
async function takeSnapshots(directory: string): Promise<void> {
  const touch = async (limits: Partial<StateLimits>, snapshots: number) => {
    const engine = new SameThreadEngine({ directory });
    const state = await openState({
      tables: allTables,
      engine,
      timers: realWorld.timers,
      limits,
    });
    const [one] = [...state.read().table(namespaces).scan()];
    const passing = { ...one!, Name: 'passing' };
    await state.write((transaction) => transaction.table(namespaces).put(passing));
    await state.write((transaction) =>
      transaction.table(namespaces).delete(...namespaces.key(passing)),
    );
    await eventually(() => {
      if (engine.snapshots < snapshots) throw new Error('no snapshot is taken');
    });
    await state.close();
  };
  await touch({ logBytes: 1, logPerSnapshot: 0 }, 1);
  await touch({ logBytes: 1, logPerSnapshot: 0 }, 1);
  await touch({}, 0);
}

async function running(at: RunningProgram, id: string): Promise<void> {
  await eventually(async () => {
    const { json } = await at.call('GET', `/v1/job/${id}/allocations`);
    const states = (json as { ClientStatus: string }[]).map(({ ClientStatus }) => ClientStatus);
    if (!states.includes('running')) throw new Error(`${id} does not run: ${states}`);
  });
}

async function peer(
  east: RunningProgram,
  west: RunningProgram,
  [at, name]: readonly [string, string],
) {
  const made = await write(west, ['POST', '/v1/peering/token', { PeerName: at }]);
  const { PeeringToken } = made as { PeeringToken: string };
  await write(east, ['POST', '/v1/peering/establish', { PeerName: name, PeeringToken }]);
  await eventually(async () => {
    const { json } = await east.call('GET', `/v1/peering/${name}`);
    if ((json as { State: string }).State !== 'ACTIVE')
      throw new Error('the peering is not active');
  });
}

/** Begins a login in a browser, and uses up the failures of an address. */
async function login(at: RunningProgram): Promise<void> {
  const provider = await startOidcProvider();
  for (const one of browserLogins(provider.issuer)) await write(at, one);
  await provider.close();
  const [method, path, body] = guess;
  while ((await at.call(method, path, body)).status !== 429);
}

const exporting = { Kind: 'exported-services', Name: 'default' };
const exported = (peerName: string) => ({
  ...exporting,
  Services: [{ Name: 'counter', Consumers: [{ Peer: peerName }] }],
});

try {
  say('bundling');
  await bundleProgram(checkout, program, version);

  say('access, variables, entries');
  let main = await start('main');
  const half = writes.findIndex(([, path]) => path === '/v1/jobs');
  for (const one of writes.slice(0, half)) await write(main, one);
  await cut(main, 'main');

  say('jobs and peers');
  main = await start('main');
  for (const one of writes.slice(half)) await write(main, one);
  for (const id of lasting) await running(main, id);
  const west = await start('west');
  await write(west, writes.find(([, path]) => path === '/v1/jobs')!);
  await running(west, 'counter');
  await peer(main, west, ['main', 'west']);
  await write(west, ['PUT', '/v1/config', exported('main')]);
  await write(main, ['PUT', '/v1/config', exported('west')]);
  await eventually(async () => {
    const { json } = await main.call('GET', '/v1/service/counter?peer=west');
    if ((json as unknown[]).length === 0) throw new Error('nothing is imported');
  });
  await cut(main, 'main');

  say('a tail of the log, and a peer that is away when its peering is deleted');
  main = await start('main');
  for (const id of lasting) await running(main, id);
  const south = await start('south', ['--server-only']);
  await peer(main, south, ['main', 'south']);
  await cut(south, 'south');
  await login(main);
  await main.call('DELETE', '/v1/peering/south');
  await write(main, [
    'PUT',
    '/v1/namespace',
    { Name: 'late', Description: 'in the tail of the log' },
  ]);
  await eventually(async () => {
    const { json } = await main.call('GET', '/v1/job/counter');
    if (!(json as { Stable: boolean }).Stable) throw new Error('the deployment is not over');
  });
  const answers: Record<string, unknown> = {};
  for (const path of reads) {
    const { status, json } = await main.call('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(json)}`);
    answers[path] = json;
  }
  await eventually(async () => {
    const { status } = await main.call('GET', '/v1/peering/south');
    if (status !== 404) throw new Error('the peering is still there');
  });
  await cut(main, 'main');
  await cut(west, 'west');

  say('packing');
  rmSync(sample, { recursive: true, force: true });
  mkdirSync(sample, { recursive: true });
  const pack = (name: string, archive = name) =>
    execFileSync(
      'tar',
      [
        '--sort=name',
        '--owner=0',
        '--group=0',
        '--numeric-owner',
        '-cJf',
        join(sample, `${archive}.tar.xz`),
        '-C',
        work,
        name,
      ],
      {
        env: { ...process.env, XZ_OPT: '-9' },
      },
    );
  copyFileSync(configuration, join(sample, 'agent.json'));
  pack('main');
  pack('program');
  cpSync(join(work, 'main', 'server'), join(work, 'server'), { recursive: true });
  await takeSnapshots(join(work, 'server'));
  pack('server', 'snapshot');
  const rows = await readRows(join(work, 'main', 'server'));
  const empty = Object.entries(rows).filter(([, all]) => all.length === 0);
  say(`tables without rows: ${empty.map(([name]) => name).join(', ') || 'none'}`);
  const store = (name: string, value: object) =>
    writeFileSync(join(sample, name), `${JSON.stringify(value, undefined, 1)}\n`);
  store('rows.json', Object.fromEntries(Object.entries(rows).filter(([, all]) => all.length > 0)));
  store('answers.json', answers);
  say(`made ${version}`);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await clear(work);
  rmSync(work, { recursive: true, force: true });
}
