/** A saved snapshot is restored over the API. */
import { beforeEach, describe, expect, test } from 'vitest';
import { instantFromMs } from '../../src/base/instant.ts';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { SnapshotWriter } from '../../src/model/snapshot/snapshot-file.ts';
import { Keyring } from '../../src/server/keyring/keyring.ts';
import { MemoryDisk } from '../../src/state/engine/memory.ts';
import { memoryState } from '../../src/state/state.test-helper.ts';
import { allTables, clusterIdentity } from '../../src/state/tables.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';

const url = '/v1/operator/snapshot';

let api: TestApi;

beforeEach(async () => {
  api = await startApi();
});

const clusterOf = ({ state }: TestApi) => state.read().table(clusterIdentity).get('cluster')!.ID;

const save = async (from = api) =>
  (await from.worked(from.call('GET', url, { signal: new AbortController().signal }))).bytes;

/** Sends the file as its own bytes. */
const restore = (bytes: Uint8Array, query = '', to = api, token?: string) =>
  to.worked(to.call('PUT', `${url}?${query}`, { body: bytes, ...(token && { token }) }));

const forced = (to = api) => `force=${clusterOf(to)}`;

async function addJob(ID: string, to = api) {
  const answer = await to.call('POST', '/v1/jobs', { body: jobBody({ ID }) });
  await to.settle();
  return answer;
}
const jobsOf = async (of = api) =>
  (await of.call('GET', '/v1/jobs')).json.map(({ ID }: { ID: string }) => ID);
const codeOf = ({ status, json }: { status: number; json?: { code: string } }) => [
  status,
  json?.code,
];

describe('on the same cluster', () => {
  test('the state is that of the snapshot, and indexes go on', async () => {
    await addJob('kept');
    const kept = (await api.call('GET', '/v1/job/kept')).json;
    await api.call('PUT', '/v1/var/a', { body: { Items: { secret: 'sealed' } } });
    const bytes = await save();
    await addJob('later');
    await api.call('PUT', '/v1/var/a', { body: { Items: { secret: 'other' } } });
    const before = api.state.read().index;
    const answer = await restore(bytes, forced());
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      ClusterID: clusterOf(api),
      Restore: { Generation: 1, SnapshotClusterID: clusterOf(api) },
    });
    expect(answer.json.Index).toBeGreaterThan(before);
    expect(answer.headers['x-scheduler-index']).toBe(String(answer.json.Index));
    expect(await jobsOf()).toEqual(['kept']);
    expect((await api.call('GET', '/v1/job/kept')).json).toEqual(kept);
    expect((await api.call('GET', '/v1/var/a')).json.Items).toEqual({ secret: 'sealed' });
    expect((await addJob('new')).status).toBe(200);
  });

  test('a blocking query wakes, and its index does not go back', async () => {
    await addJob('kept');
    const bytes = await save();
    await addJob('kept');
    await api.call('DELETE', '/v1/job/kept');
    await api.settle();
    const { headers } = await api.call('GET', '/v1/job/kept');
    const index = Number(headers['x-scheduler-index']);
    const waiting = api.call('GET', `/v1/job/kept?index=${index}&wait=10m`);
    const restored = await restore(bytes, forced());
    const woken = await waiting;
    expect(woken.json.Stop).toBe(false);
    expect(Number(woken.headers['x-scheduler-index'])).toBe(restored.json.Index);
    expect(restored.json.Index).toBeGreaterThan(index);
  });

  test('readers of the event stream hear that they have to list again', async () => {
    const stream = await api.follow('/v1/event/stream');
    const bytes = await save();
    const { json } = await restore(bytes, forced());
    await api.settle();
    expect(stream.lines).toContainEqual({ Index: json.Index + 1, Events: [], Missed: true });
    stream.stop();
  });

  test('a token that the snapshot does not have is not valid any more', async () => {
    const bytes = await save();
    const { SecretID } = (await api.call('PUT', '/v1/acl/token', { body: {} })).json;
    expect((await api.call('GET', '/v1/acl/token/self', { token: SecretID })).status).toBe(200);
    await restore(bytes, forced());
    expect((await api.call('GET', '/v1/acl/token/self', { token: SecretID })).status).toBe(403);
  });

  test('it is there again after a restart', async () => {
    await addJob('kept');
    const bytes = await save();
    await addJob('later');
    await restore(bytes, forced());
    const again = await startApi({ disk: api.disk, seed: 2 });
    expect(await jobsOf(again)).toEqual(['kept']);
    const { json } = await again.call('GET', `${url}/restored`);
    expect(json).toMatchObject({ Restore: { Generation: 1 }, Allocations: [] });
  });

  test('allocations of the snapshot go on, and new jobs are placed', async () => {
    const fleet = new Fleet(api);
    await fleet.join(1);
    await addJob('kept');
    await api.settle();
    const bytes = await save();
    await restore(bytes, forced());
    await fleet.register(1);
    await addJob('new');
    await api.settle();
    const placed = (await api.call('GET', '/v1/allocations')).json;
    expect(placed.map(({ JobID }: { JobID: string }) => JobID).sort()).toEqual(['kept', 'new']);
  });
});

describe('a restore that is refused changes nothing', () => {
  let bytes: Uint8Array;
  let was: Uint8Array;

  beforeEach(async () => {
    await addJob('kept');
    bytes = await save();
    await addJob('later');
    was = await save();
  });

  const unchanged = async () => expect(Buffer.from(await save()).equals(was)).toBe(true);

  test.each([
    ['without force', () => restore(bytes), [409, 'state-not-empty']],
    [
      'with the id of another cluster',
      () => restore(bytes, 'force=other'),
      [400, 'other-cluster-named'],
    ],
    [
      'of a file that is cut off',
      () => restore(bytes.subarray(0, -1), forced()),
      [400, 'snapshot-damaged'],
    ],
    ['of something else', () => restore(Buffer.from('{}'), forced()), [400, 'snapshot-damaged']],
    ['without a body', () => restore(new Uint8Array(), forced()), [400, 'snapshot-damaged']],
    [
      'of a later format',
      () => restore(fileWith({ Format: 2 }), forced()),
      [400, 'snapshot-too-new'],
    ],
    [
      'of an unknown table',
      () => restore(fileWith({}, 'unheard-of'), forced()),
      [400, 'snapshot-too-new'],
    ],
    [
      'of a later version of a table',
      () => restore(fileWith({}, 'jobs', 99), forced()),
      [400, 'snapshot-too-new'],
    ],
    ['without the permission', () => restore(bytes, forced(), api, 'x'), [403, 'token-not-found']],
  ])('%s', async (_, attempt, expected) => {
    expect(codeOf(await attempt())).toEqual(expected);
    await unchanged();
  });

  test('of a file that is damaged anywhere', async () => {
    const places = 40;
    for (let place = 0; place < places; place++) {
      const damaged = flipped(bytes, Math.floor((bytes.length * place) / places));
      const answer = await restore(damaged, forced());
      const [status, code] = codeOf(answer);
      expect(status, `byte ${place} of ${places}`).toBe(400);
      expect(code).toMatch(/^snapshot-(damaged|too-new)$/);
      // It is the file that is damaged, and not the state of the server.
      expect(answer.json.detail).not.toContain('stored state is damaged');
    }
    await unchanged();
  });

  test('of a snapshot that was sealed under another root key', async () => {
    const world = new SimulatedWorld(9);
    const state = await memoryState(allTables, world);
    await Keyring.open(state, new Uint8Array(32).fill(2), world);
    const writer = new SnapshotWriter();
    const { index, tables, texts } = state.saved();
    const Tables = tables.map(({ name, version, rows }) => ({
      Name: name,
      Version: version,
      Rows: rows,
    }));
    const pieces = [writer.begin({ ...header, Index: index, Tables })];
    for (const text of texts(1000)) if (text !== undefined) pieces.push(writer.rows(text));
    const foreign = Buffer.concat([...pieces, writer.end()]);
    const refused = await restore(foreign, forced());
    expect(codeOf(refused)).toEqual([400, 'snapshot-of-another-root-key']);
    await unchanged();
  });

  test('the refusal names the cluster and what would be lost', async () => {
    const { json } = await restore(bytes);
    expect(json.detail).toContain(`force=${clusterOf(api)}`);
    expect(json.detail).toContain('jobs (2)');
  });
});

const header = { Format: 1, Version: 'x', ClusterID: 'c', Index: 1, CreateTime: 0, Tables: [] };

function flipped(bytes: Uint8Array, place: number): Uint8Array {
  const damaged = Uint8Array.from(bytes);
  damaged[place]! ^= 1;
  return damaged;
}

function fileWith(more: object, Table = 'jobs', Version = 2): Uint8Array {
  const writer = new SnapshotWriter();
  const rows = Buffer.from(JSON.stringify({ Table, Version, Rows: [] }));
  return Buffer.concat([writer.begin({ ...header, ...more }), writer.rows(rows), writer.end()]);
}

describe('on another cluster', () => {
  let other: TestApi;

  beforeEach(async () => {
    other = await startApi({ seed: 7, disk: new MemoryDisk() });
    await new Fleet(api).join(1);
    await addJob('kept');
    await api.settle();
  });

  test('an empty cluster takes the state and keeps its own id, without nodes of the other', async () => {
    const bytes = await save();
    const own = clusterOf(other);
    const { status, json } = await restore(bytes, '', other);
    expect([status, json.ClusterID]).toEqual([200, own]);
    expect(json.Restore.SnapshotClusterID).toBe(clusterOf(api));
    expect(json.Index).toBeGreaterThan(1_000_000_000);
    expect(await jobsOf(other)).toEqual(['kept']);
    expect((await other.call('GET', '/v1/nodes')).json).toEqual([]);
    await new Fleet(other).register(2);
    await other.settle();
    const placed = (await other.call('GET', '/v1/allocations')).json;
    expect(
      placed
        .map(({ ClientStatus, NodeID }: { ClientStatus: string; NodeID: string }) => [
          ClientStatus,
          NodeID,
        ])
        .sort(),
    ).toEqual([
      ['lost', idOf(1)],
      ['pending', idOf(2)],
    ]);
  });

  test('with same_cluster it goes on as that cluster, with its nodes', async () => {
    const { json } = await restore(await save(), 'same_cluster', other);
    expect(json.ClusterID).toBe(clusterOf(api));
    expect((await other.call('GET', '/v1/nodes')).json.length).toBe(1);
  });
});

describe('nodes after a restore', () => {
  const secret = '00000001-0000-4000-8000-00000000000f';
  const node = idOf(1);
  const heartbeat = () => api.call('PUT', `/v1/node/${node}/heartbeat`, { token: secret });
  const assignments = (query = '') =>
    api.call('GET', `/v1/node/${node}/assignments${query}`, { token: secret });
  const report = (ID: string, ClientStatus = 'running') =>
    api.call('PUT', `/v1/node/${node}/status`, {
      token: secret,
      body: { Allocations: [{ ID, ClientStatus, TaskStates: {} }] },
    });
  let fleet: Fleet;

  beforeEach(async () => {
    fleet = new Fleet(api);
    await fleet.join(1);
    const bytes = await save();
    await addJob('later');
    await api.settle();
    const { headers, json } = await assignments();
    expect(json.length).toBe(1);
    const waiting = assignments(`?index=${headers['x-scheduler-index']}&wait=10m`);
    await restore(bytes, forced());
    expect((await waiting).status).toBe(404);
  });

  test('a node has to register before anything else, and hears how long to keep unknown allocations', async () => {
    expect((await heartbeat()).status).toBe(404);
    expect((await assignments()).status).toBe(404);
    expect((await report(idOf(5))).status).toBe(404);
    const registered = await fleet.register(1);
    expect(registered.json.Restored).toMatchObject({ UnknownFor: 30 * 60 * 1e9 });
    expect((await heartbeat()).status).toBe(200);
    expect((await assignments()).json).toEqual([]);
  });

  test('a node whose registration was answered in vain has to register again', async () => {
    const { Index } = (await fleet.register(1)).json.Restored;
    for (const heard of [0, Index - 1]) {
      expect((await assignments(`?restored=${heard}`)).status).toBe(404);
    }
    expect((await assignments(`?restored=${Index}`)).json).toEqual([]);
  });

  test('allocations that nodes report and the snapshot does not know are listed until they end', async () => {
    await fleet.register(1);
    await report(idOf(5));
    const listed = async () => (await api.call('GET', `${url}/restored`)).json.Allocations;
    expect(await listed()).toEqual([{ ID: idOf(5), NodeID: node, ClientStatus: 'running' }]);
    await report(idOf(5), 'complete');
    expect(await listed()).toEqual([]);
    await report(idOf(6));
    await api.world.advance(31 * 60_000);
    expect(await listed()).toEqual([]);
  });

  test('after the grace nodes hear nothing of it', async () => {
    await api.world.advance(31 * 60_000);
    const { json } = await fleet.register(1);
    expect(json.Restored).toBeUndefined();
    const { Restore } = (await api.call('GET', `${url}/restored`)).json;
    expect(Restore.UnknownUntil).toBeLessThan(instantFromMs(api.world.clock.nowMs()));
  });
});
