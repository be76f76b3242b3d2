/** `npm run cluster`, from its start to its end. */
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import { type Client, createClient } from '../../src/sdk/client.ts';
import { etcdPath } from '../../tools/etcd.mjs';
import { directory, endAgents, launch, type Program } from '../support/agent.ts';
import { etcdServer } from '../support/etcd.ts';

vi.setConfig({ testTimeout: 400_000, hookTimeout: 60_000 });

describe('npm run cluster', needing(etcdServer), () => {
  let program: Program;
  let addresses: readonly string[];
  let client: Client;
  const clients: Client[] = [];
  afterAll(async () => {
    for (const one of clients) await one.close();
    await endAgents();
  });

  const start = async (...words: readonly string[]) => {
    const run = ['run', '--silent', 'cluster', '--', ...words];
    program = launch('npm', run, { env: { ETCD: etcdPath() }, isGroup: true });
    const addressed = /ROSTER_ADDR=(\S+) ROSTER_TOKEN=(\S+)/;
    let isOver = false;
    void program.ended.then(() => {
      isOver = true;
    });
    await expect
      .poll(() => isOver || addressed.test(program.said().stdout), { timeout: 150_000 })
      .toBe(true);
    const { stdout, stderr } = program.said();
    const [, list = '', token = ''] = addressed.exec(stdout) ?? [];
    expect([token === '', stderr]).toEqual([false, '']);
    addresses = list.split(',');
    client = createClient({ address: addresses, token });
    clients.push(client);
    return token;
  };

  test('starts three servers and two nodes, and runs the example through a follower', async () => {
    const token = await start();
    const members = (await client.status.servers()).value;
    expect(members).toHaveLength(3);
    const nodes = (await client.nodes.list()).value;
    expect(nodes.map(({ Name }) => Name).sort()).toEqual(['node-1', 'node-2']);
    const follower = members.find(({ Leader }) => !Leader)!;
    const env = { ROSTER_ADDR: `http://${follower.Address}`, ROSTER_TOKEN: token };
    const ran = await launch('bin/roster', ['job', 'run', '-detach', 'examples/web.json'], { env })
      .ended;
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    // On a busy machine a node may be late with its heartbeat, and is replaced for a while.
    const running = async () =>
      (await client.jobs.allocations('web')).value.filter(
        ({ ClientStatus, DesiredStatus }) => ClientStatus === 'running' && DesiredStatus === 'run',
      );
    await expect.poll(async () => (await running()).length).toBe(3);
  });

  test('a server that is killed starts again, and the others go on', async () => {
    const [, pid = ''] = await program.says(/kill -9 (\d+)/);
    const idsOf = async () =>
      (await client.status.servers()).value.filter(isAlive).map(({ ID }) => ID);
    const before = await idsOf();
    process.kill(Number(pid), 'SIGKILL');
    await program.says(/server-1 has ended\. It starts again/);
    await client.namespaces.write('meanwhile', { Name: 'meanwhile' });
    await expect
      .poll(
        async () => {
          const ids = await idsOf();
          return [ids.length, ids.filter((id) => before.includes(id)).length];
        },
        { timeout: 120_000 },
      )
      .toEqual([3, 2]);
  });

  test('Ctrl-C ends everything, and leaves nothing', async () => {
    const [, kept = ''] = await program.says(/Their logs are in (\S+)/);
    expect(readdirSync(kept)).toContain('server-1.log');
    program.signal('SIGINT');
    const { code, stderr } = await program.ended;
    expect([code, stderr]).toEqual([0, '']);
    expect(existsSync(kept)).toBe(false);
    expect(processesIn(kept)).toEqual([]);
  });

  test('a directory that is given is kept, and the same cluster starts again', async () => {
    const kept = mkdtempSync(join(directory, 'cluster-'));
    const token = await start('--dir', kept);
    const before = addresses;
    await client.namespaces.write('blue', { Name: 'blue' });
    program.signal('SIGINT');
    expect((await program.ended).code).toBe(0);
    expect(await start('--dir', kept)).toBe(token);
    expect(addresses).toEqual(before);
    expect((await client.namespaces.read('blue')).value.Name).toBe('blue');
    program.signal('SIGINT');
    expect((await program.ended).code).toBe(0);
    expect(readdirSync(kept)).toContain('cluster.json');
    expect(processesIn(kept)).toEqual([]);
  });
});

const isAlive = ({ Status }: { readonly Status: string }) => Status === 'alive';

test('without etcd it says what is missing', async () => {
  const env = { ETCD: join(directory, 'nowhere') };
  const { code, stderr } = await launch('npm', ['run', '--silent', 'cluster'], { env }).ended;
  expect(code).toBe(1);
  expect(stderr).toContain('npm run cluster needs etcd');
});

const processesIn = (place: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(join('/proc', pid, 'cmdline'), 'utf8').includes(place);
    } catch {
      return false;
    }
  });
