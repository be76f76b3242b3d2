/** Services of peers, read over HTTP. The test acts as the peer and sends its frames. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { StoredPeering } from '../../src/model/peering/peering.ts';
import { configEntries, peerings, serviceRegistrations } from '../../src/state/tables.ts';
import { aclOf } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { newPeering, newRegistration } from '../support/stored-rows.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
  await peer('east');
});

const settled = async <T>(work: Promise<T>): Promise<T> => {
  const [value] = await Promise.all([work, api.settle()]);
  return value;
};
const peer = (Name: string, changes: Partial<StoredPeering> = {}) =>
  settled(
    api.state.write((transaction) => {
      transaction.table(peerings).put({ ...newPeering(Name), ...changes });
    }),
  );

/** The peer's exports, as `[namespace, service, ids]`. */
function stream(name = 'east', partition = 'default') {
  const frames: { type: string }[] = [];
  const end = api.server.exchange.open({
    peering: { partition, name, id: `id-${name}` },
    send: (frame) => frames.push(frame) > 0,
    fail: (reason) => expect.fail(reason),
  });
  let id = 0;
  const change = async (changes: object) => {
    id++;
    end.receive({
      type: 'change',
      id,
      services: [],
      instances: [],
      removedServices: [],
      removedInstances: [],
      ...changes,
    });
    await api.settle();
  };
  return { frames, end, change };
}

const instance = (namespace: string, name: string, id: string, changes: object = {}) => ({
  namespace,
  name,
  id,
  address: '10.1.0.1',
  port: 80,
  tags: [`t${id}`],
  meta: {},
  weights: { passing: 1, warning: 1 },
  datacenter: 'dc2',
  status: 'passing',
  ...changes,
});
const told = async (
  services: readonly (readonly [string, string, readonly string[]])[],
  ...where: Parameters<typeof stream>
) => {
  const one = stream(...where);
  one.end.receive({ type: 'begin' });
  await one.change({
    services: services.map(([namespace, name]) => ({ namespace, name, protocol: 'tcp' })),
    instances: services.flatMap(([namespace, name, ids]) =>
      ids.map((id) => instance(namespace, name, id)),
    ),
  });
  one.end.receive({ type: 'complete' });
  await api.settle();
  return one;
};
const get = async (url: string, options: { token?: string | null } = {}) => {
  const { status, json, text } = await api.call('GET', url, options);
  expect(status, text).toBe(200);
  return json;
};
const register = (Namespace: string, ServiceName: string, ID: string) =>
  settled(
    api.state.write((transaction) =>
      transaction.table(serviceRegistrations).put(newRegistration(Namespace, ServiceName, ID)),
    ),
  );
const exports = (Services: readonly object[]) =>
  settled(
    api.state.write((transaction) => {
      const key = { Kind: 'exported-services', Name: 'default', Partition: 'default' };
      const row = { ...key, Namespace: 'default', Meta: null, Services };
      transaction.table(configEntries).put(row as never);
    }),
  );
const rule = (Name: string, ...peers: string[]) => ({
  Name,
  Namespace: 'default',
  Consumers: peers.map((Peer) => ({ Peer })),
});

describe('services with peer=', () => {
  test('are listed by name, also without an instance', async () => {
    await told([
      ['default', 'api', []],
      ['default', 'web', ['1', '2']],
      ['team', 'web', ['3']],
    ]);
    await register('default', 'own', '9');
    expect(await get('/v1/services?peer=east')).toEqual([
      {
        Namespace: 'default',
        Services: [
          { ServiceName: 'api', Tags: [] },
          { ServiceName: 'web', Tags: ['t1', 't2'] },
        ],
      },
    ]);
    expect(await get('/v1/services?peer=east&namespace=*')).toEqual([
      expect.objectContaining({ Namespace: 'default' }),
      { Namespace: 'team', Services: [{ ServiceName: 'web', Tags: ['t3'] }] },
    ]);
    expect(await get('/v1/services')).toMatchObject([{ Services: [{ ServiceName: 'own' }] }]);
  });

  test('are listed by instance, in the form of local services', async () => {
    await told([['default', 'web', ['1']]]);
    await register('default', 'web', '9');
    const [own] = await get('/v1/service/web');
    const [imported, ...more] = await get('/v1/service/web?peer=East');
    expect(Object.keys(imported)).toEqual(expect.arrayContaining(Object.keys(own)));
    expect(imported).toMatchObject({
      ID: '1',
      ServiceName: 'web',
      Namespace: 'default',
      Peer: 'east',
      Datacenter: 'dc2',
      NodeID: '',
      JobID: '',
      AllocID: '',
      Address: '10.1.0.1',
      Port: 80,
      Tags: ['t1'],
    });
    expect([more, own.Peer]).toEqual([[], undefined]);
  });

  test('can be filtered, paged, reversed and chosen as local services', async () => {
    await told([
      ['default', 'web', ['1', '2', '3']],
      ['team', 'web', ['4', '5']],
    ]);
    const ids = async (query: string) => {
      const answer = await api.call('GET', `/v1/service/web?peer=east${query}`);
      expect(answer.status, answer.text).toBe(200);
      const next = answer.headers['x-scheduler-nexttoken'];
      return [answer.json.map(({ ID }: { ID: string }) => ID).join(''), next];
    };
    expect(await ids('&filter=ID%20!=%20"2"')).toEqual(['13', undefined]);
    expect(await ids('&filter=Peer%20==%20"east"')).toEqual(['123', undefined]);
    expect(await ids('&namespace=*')).toEqual(['12345', undefined]);
    expect(await ids('&namespace=*&reverse')).toEqual(['54321', undefined]);
    let query = '&namespace=*&per_page=2';
    const pages: (string | undefined)[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const [page, after] = await ids(query);
      pages.push(page);
      next = after;
      query = `&namespace=*&per_page=2&next_token=${next}`;
    }
    expect(pages).toEqual(['12', '34', '5']);
    const [chosen] = await ids('&choose=2|key');
    expect(chosen).toHaveLength(2);
    const names = await get('/v1/services?peer=east&namespace=*&per_page=1&reverse');
    expect(names).toMatchObject([{ Namespace: 'team' }]);
  });

  test('wake blocking queries for their own changes only', async () => {
    const { change } = await told([['default', 'web', ['1']]]);
    const first = await api.call('GET', '/v1/service/web?peer=east');
    const index = first.headers['x-scheduler-index'];
    let answered: { json: unknown } | undefined;
    const url = `/v1/service/web?peer=east&index=${index}&wait=5m`;
    void api.call('GET', url).then((answer) => (answered = answer));
    await register('default', 'web', '9');
    await told([['default', 'web', ['7']]], 'other');
    await change({ instances: [] });
    expect(answered).toBeUndefined();
    const instances = [instance('default', 'web', '1', { status: 'critical' })];
    await change({ instances });
    expect(answered?.json).toMatchObject([{ ID: '1', Status: 'critical' }]);
  });

  test('of an unknown peer are a 404', async () => {
    for (const url of ['/v1/services?peer=none', '/v1/service/web?peer=none']) {
      const { status, json } = await api.call('GET', url);
      expect([status, json.code]).toEqual([404, 'peering-not-found']);
    }
    expect(await get('/v1/service/web?peer=east')).toEqual([]);
    expect((await api.call('GET', '/v1/service/web?peer=a%00b')).status).toBe(400);
  });

  test('of another partition have other peers', async () => {
    await peer('east', { Partition: 'left', ID: 'id-east' });
    await told([['default', 'web', ['1']]], 'east', 'left');
    expect(await get('/v1/service/web?peer=east')).toEqual([]);
    const url = '/v1/service/web?peer=east&partition=left';
    expect(await get(url)).toMatchObject([{ ID: '1', Partition: 'left' }]);
    const acl = aclOf(api);
    const here = await acl.holder('namespace "default" { policy = "read" }');
    expect((await api.call('GET', url, { token: here })).status).toBe(403);
    const all = await get(`${url}&namespace=*`, { token: here });
    expect(all).toEqual([]);
  });

  test('need the permission to see local services of the namespace', async () => {
    await told([
      ['default', 'web', ['1']],
      ['team', 'web', ['2']],
    ]);
    const acl = aclOf(api);
    const token = await acl.holder('namespace "team" { policy = "read" }');
    expect((await api.call('GET', '/v1/service/web?peer=east', { token })).status).toBe(403);
    expect((await api.call('GET', '/v1/service/web?peer=none', { token })).status).toBe(403);
    const url = '/v1/service/web?peer=east&namespace=';
    expect(await get(`${url}team`, { token })).toMatchObject([{ ID: '2' }]);
    expect(await get(`${url}*`, { token })).toMatchObject([{ ID: '2' }]);
    expect(await get('/v1/services?peer=east&namespace=*', { token })).toMatchObject([
      { Namespace: 'team' },
    ]);
  });
});

describe('the list of exported services', () => {
  test('has every exported service, with * expanded', async () => {
    await exports([rule('*', 'east'), rule('web', 'west'), rule('none', 'west')]);
    await register('default', 'web', '1');
    await register('default', 'api', '1');
    await register('team', 'api', '1');
    const place = { Partition: 'default', Namespace: 'default' };
    const all = [
      { Service: 'api', ...place, Consumers: { Peers: ['east'] } },
      { Service: 'none', ...place, Consumers: { Peers: ['west'] } },
      { Service: 'web', ...place, Consumers: { Peers: ['east', 'west'] } },
    ];
    expect(await get('/v1/exported-services')).toEqual(all);
    expect(await get('/v1/exported-services?reverse')).toEqual(all.toReversed());
    const filter = encodeURIComponent('"west" in Consumers.Peers');
    expect(await get(`/v1/exported-services?filter=${filter}`)).toEqual(all.slice(1));
    const { headers, json } = await api.call('GET', '/v1/exported-services?per_page=2');
    expect(json).toEqual(all.slice(0, 2));
    const next = headers['x-registry-nexttoken'] ?? headers['x-scheduler-nexttoken'];
    expect(await get(`/v1/exported-services?per_page=2&next_token=${next}`)).toEqual([all[2]]);
  });

  test('includes for * services that exist by routing entries only, with the reason', async () => {
    const put = async (body: object, query = '') =>
      expect((await api.call('PUT', `/v1/config${query}`, { body })).json).toBe(true);
    const Services = [{ Name: '*', Consumers: [{ Peer: 'east' }] }];
    await put({ Kind: 'exported-services', Services });
    await put({ Kind: 'service-resolver', Name: 'old', Redirect: { Service: 'web' } });
    await put({ Kind: 'service-resolver', Name: 'no service', Redirect: { Service: 'web' } });
    await put({ Kind: 'service-defaults', Name: 'api', Protocol: 'http' });
    await put({ Kind: 'service-splitter', Name: 'api', Splits: [{ Weight: 100 }] });
    await put({ Kind: 'service-defaults', Name: 'plain', Protocol: 'http' });
    const names = async (query = '') =>
      (await get(`/v1/exported-services${query}`)).map(
        ({ Service }: { Service: string }) => Service,
      );
    expect(await names()).toEqual(['api', 'old']);
    expect((await get('/v1/peering/east')).StreamStatus.ExportedServices).toEqual(['api', 'old']);
    const why = async (service: string) =>
      (await get(`/v1/peering/east/why?service=${service}`)).Export;
    expect((await why('old')).Reason).toBe('stream-down');
    expect(await why('plain')).toMatchObject({
      Reason: 'no-instance',
      Sentence:
        'A rule with "*" exports services with an instance or routing entries, and "plain" has neither.',
    });
    const waiting = api.call('GET', '/v1/exported-services?index=1&wait=10s');
    expect((await api.call('DELETE', '/v1/config/service-resolver/old')).json).toBe(true);
    await waiting;
    expect(await names()).toEqual(['api']);
    expect((await get('/v1/peering/east')).StreamStatus.ExportedServices).toEqual(['api']);
    // In a partition without jobs, services exist only by entries.
    await api.call('PUT', '/v1/partition/left', { body: {} });
    await put({ Kind: 'exported-services', Services }, '?partition=left');
    expect(await names('?partition=left')).toEqual([]);
    const web = { Kind: 'service-resolver', Name: 'web', ConnectTimeout: '1s' };
    await put(web, '?partition=left');
    expect(await names('?partition=left')).toEqual(['web']);
  });

  test('is by partition, and empty without an entry', async () => {
    expect(await get('/v1/exported-services')).toEqual([]);
    const Consumers = [{ Partition: 'left' }, { Peer: 'east' }];
    await exports([{ Name: 'web', Namespace: 'default', Consumers }]);
    expect(await get('/v1/exported-services')).toMatchObject([
      { Consumers: { Peers: ['east'], Partitions: ['left'] } },
    ]);
  });
});

test('the list of imported services names their peers', async () => {
  await peer('west');
  await told([
    ['default', 'web', ['1']],
    ['team', 'api', []],
  ]);
  await told([['default', 'web', []]], 'west');
  expect(await get('/v1/imported-services')).toEqual([
    { Service: 'web', Partition: 'default', Namespace: 'default', SourcePeer: 'east' },
    { Service: 'api', Partition: 'default', Namespace: 'team', SourcePeer: 'east' },
    { Service: 'web', Partition: 'default', Namespace: 'default', SourcePeer: 'west' },
  ]);
  const filter = encodeURIComponent('SourcePeer == "west"');
  expect(await get(`/v1/imported-services?filter=${filter}`)).toHaveLength(1);
  for (const url of ['/v1/imported-services', '/v1/exported-services']) {
    const token = await aclOf(api).holder('namespace "default" { policy = "write" }');
    expect((await api.call('GET', url, { token })).status).toBe(403);
    for (const rules of ['mesh = "read"', 'operator = "read"']) {
      expect((await api.call('GET', url, { token: await aclOf(api).holder(rules) })).status).toBe(
        200,
      );
    }
  }
});

describe('an explanation', () => {
  const why = async (service = 'web', name = 'east', query = '') => {
    const { Export, Import } = await get(`/v1/peering/${name}/why?service=${service}${query}`);
    return { reasons: [Export.Reason, Import.Reason], Export, Import };
  };

  test('names the first obstacle after each change', async () => {
    expect((await why()).reasons).toEqual(['no-rule', 'stream-down']);
    await exports([rule('api', 'east')]);
    expect((await why()).reasons).toEqual(['no-rule', 'stream-down']);
    await exports([rule('api', 'east'), rule('web', 'west')]);
    const other = await why();
    expect(other.reasons).toEqual(['other-consumers', 'stream-down']);
    expect(other.Export.Rules.map(({ Verdict }: { Verdict: string }) => Verdict)).toEqual([
      'other-service',
      'other-consumers',
    ]);
    await exports([rule('*', 'east')]);
    expect((await why()).reasons).toEqual(['no-instance', 'stream-down']);
    await register('default', 'web', '1');
    expect((await why()).reasons).toEqual(['stream-down', 'stream-down']);
    const { end, frames } = stream();
    expect((await why()).reasons).toEqual(['waiting', 'telling']);
    await api.settle();
    expect(frames.map(({ type }) => type)).toEqual(['begin', 'change', 'complete']);
    expect((await why()).reasons).toEqual(['sent', 'telling']);
    end.receive({ type: 'acknowledge', id: 1 });
    end.receive({ type: 'begin' });
    end.receive({ type: 'complete' });
    await api.settle();
    const there = await why();
    expect(there.reasons).toEqual(['acknowledged', 'not-told']);
    expect(there.Export).toMatchObject({ IsThere: true, Instances: 1 });
    expect(there.Export.Sentence).toBe(
      '"east" has "web"; last acknowledged at 2026-01-01T00:00:00Z.',
    );
    end.close();
    expect((await why()).reasons).toEqual(['stream-down', 'stream-down']);
  });

  test('says which services are here, and whether the stream is open', async () => {
    const { end } = await told([['team', 'web', ['1', '2']]]);
    const here = await why('web', 'east', '&ns=team');
    expect(here.Import).toEqual({
      IsThere: true,
      Reason: 'imported',
      Instances: 2,
      Sentence: '"east" exports "team/web" with 2 instances.',
    });
    expect((await why()).Import.Reason).toBe('not-told');
    end.close();
    const { Import } = await why('web', 'east', '&ns=team');
    expect(Import.Sentence).toContain('no stream is open, so changes do not arrive');
    await peer('east', { State: 'TERMINATED' });
    expect((await why()).reasons).toEqual(['peering-ended', 'peering-ended']);
  });

  test('needs an existing peering and read access to peerings', async () => {
    const { status, json } = await api.call('GET', '/v1/peering/none/why?service=web');
    expect([status, json.code]).toEqual([404, 'peering-not-found']);
    expect((await api.call('GET', '/v1/peering/east/why')).status).toBe(400);
    const token = await aclOf(api).holder('mesh = "read"');
    expect((await api.call('GET', '/v1/peering/east/why?service=web', { token })).status).toBe(403);
  });
});
