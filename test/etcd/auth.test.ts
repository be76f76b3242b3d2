/** The rights in etcd that suffice. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import { BenchServers, hasRow } from '../../src/state/engine/shared-engine.test-helper.ts';
import { EtcdCluster, etcdServer } from '../support/etcd.ts';
import { RealBench } from './bench.ts';

const word = 'p';
const always = (text: string) => () => Promise.resolve(text);
const login = { user: 'roster', password: always(word) };
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('etcd with users', needing(etcdServer), () => {
  let cluster: EtcdCluster;

  beforeAll(async () => {
    cluster = await EtcdCluster.start(1);
    const perm = { permType: 'READWRITE', key: base64('/roster/'), range_end: base64('/roster0') };
    for (const [path, body] of [
      ['auth/role/add', { name: 'root' }],
      ['auth/user/add', { name: 'root', password: 'r' }],
      ['auth/user/grant', { user: 'root', role: 'root' }],
      ['auth/role/add', { name: 'roster' }],
      ['auth/role/grant', { name: 'roster', perm }],
      ['auth/user/add', { name: login.user, password: word }],
      ['auth/user/grant', { user: 'roster', role: 'roster' }],
      ['auth/enable', {}],
    ] as const) {
      await cluster.call(path, body);
    }
  });

  afterAll(() => cluster?.stop());

  /** With another login each time, since a change of a user ends the logins of all. */
  const administer = async (path: string, body: object) => {
    const root = { name: 'root', password: 'r' };
    const { token } = (await cluster.call('auth/authenticate', root)) as { readonly token: string };
    await cluster.call(`auth/${path}`, body, 0, token);
  };

  test('a user who may read and write one prefix can lead, follow and store snapshots', async () => {
    const bench = new RealBench(cluster, { login, prefix: '/roster/' });
    const servers = await new BenchServers(bench, { logBytes: 1, logPerSnapshot: 0 }).open(2);
    for (const name of ['a', 'b', 'c']) await servers.put(servers.leader, name);
    await bench.until(() => servers.living.every((server) => hasRow(server, 'c')));
    expect(servers.living.flatMap(({ reports }) => reports)).toEqual([]);
    servers.end();
  });

  test('a password that was changed is read anew, without a new start', async () => {
    let given = 'before';
    const own = { user: 'changing', password: () => Promise.resolve(given) };
    await administer('user/add', { name: own.user, password: given });
    await administer('user/grant', { user: own.user, role: 'roster' });
    const client = cluster.client({ login: own });
    const read = () => client.range({ key: '/roster/a' });
    await read();
    await administer('user/changepw', { name: own.user, password: 'after' });
    await expect(read()).rejects.toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('authentication failed'),
    });
    given = 'after';
    expect(await read()).toMatchObject({ keys: [] });
  });

  test.each([
    ['another prefix', login, '/other/', /permission denied/],
    [
      'another password',
      { ...login, password: always('wrong') },
      '/roster/',
      /authentication failed/,
    ],
    ['no user', undefined, '/roster/', /user name is empty/],
  ] as const)('%s ends the start at once, by name', async (_, given, prefix, sentence) => {
    const bench = new RealBench(cluster, { login: given, prefix });
    await expect(new BenchServers(bench).start(0)).rejects.toMatchObject({
      code: 'log-unreachable',
      message: expect.stringMatching(sentence),
    });
  });
});
