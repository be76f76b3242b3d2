import { beforeEach, describe, expect, test } from 'vitest';
import { jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
});

const nothings = [null, '', 0, false, [], {}];

describe('an unknown field without a value', () => {
  test.each(nothings)('(%j) is ignored where unknown fields are refused', async (nothing) => {
    const body = { Name: 'shop', Meta: null, Unheard: nothing };
    expect((await api.call('PUT', '/v1/namespace', { body })).status).toBe(200);
    const entry = { Kind: 'service-defaults', Name: 'web', Unheard: nothing };
    expect((await api.call('PUT', '/v1/config', { body: entry })).status).toBe(200);
  });

  test.each(nothings)('(%j) causes no warning in a job', async (nothing) => {
    const task = { LogConfig: { Unheard: nothing } };
    const { status, json } = await api.call('POST', '/v1/jobs', { body: jobBody({}, {}, task) });
    expect([status, json.Warnings]).toEqual([200, '']);
  });

  test.each([1, true, 'x', [0], { a: null }])('is told when it holds %j', async (Unheard) => {
    const body = { Name: 'shop', Unheard };
    const { status, json } = await api.call('PUT', '/v1/namespace', { body });
    expect([status, json.errors[0].pointer]).toEqual([400, '/Unheard']);
    const job = await api.call('POST', '/v1/jobs', { body: jobBody({ Unheard }) });
    expect(job.json.Warnings).toContain('Unheard');
  });
});

test('an empty text in a choice counts as absent', async () => {
  const Scaling = { Type: '', Max: 3 };
  const body = jobBody({ Type: '' }, { Scaling });
  expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(200);
  const { json } = await api.call('GET', '/v1/job/web');
  expect([json.Type, json.TaskGroups[0].Scaling.Type]).toEqual(['service', 'horizontal']);
  const intentions = {
    Kind: 'service-intentions',
    Name: 'web',
    Sources: [{ Name: 'db', Type: '', Action: 'allow' }],
  };
  expect((await api.call('PUT', '/v1/config', { body: intentions })).status).toBe(200);
});

describe('the envelope of a write', () => {
  const envelope = { Region: 'global', Namespace: 'default', SecretID: 'abc' };

  test('is accepted by every write of the scheduler with a body', async () => {
    const writes = api.api.routes.filter(
      ({ endpoint }) => endpoint.family === 'scheduler' && endpoint.body,
    );
    expect(writes.length).toBeGreaterThan(20);
    const told = [];
    for (const { method, path, endpoint } of writes) {
      if (endpoint.body?.raw !== undefined) continue;
      const url = path.replace(/:[a-z_]+\+?/g, 'none');
      const answer = await api.call(method, url, { body: envelope });
      const text = JSON.stringify(answer.json);
      if (/"\/?(Region|Namespace|SecretID)"? is not a known|unknown field/.test(text)) {
        told.push(`${method} ${path}: ${text}`);
      }
    }
    expect(told).toEqual([]);
  });

  test('causes no warning, is not stored, and names the namespace', async () => {
    await api.call('PUT', '/v1/namespace', { body: { Name: 'shop' } });
    const body = { ...jobBody({ ID: 'other' }), ...envelope };
    expect((await api.call('POST', '/v1/jobs', { body })).json.Warnings).toBe('');
    const scale = {
      Count: 2,
      Message: 'more',
      Target: { Group: 'web' },
      ...envelope,
      Namespace: 'shop',
    };
    const scaled = await api.call('POST', '/v1/job/web/scale', { body: scale });
    expect(scaled.json).toMatchObject({
      code: 'job-not-found',
      detail: expect.stringContaining('shop'),
    });
    const pool = { Name: 'gpu', ...envelope };
    expect((await api.call('PUT', '/v1/node/pools', { body: pool })).status).toBe(200);
    expect((await api.call('GET', '/v1/node/pool/gpu')).json).not.toHaveProperty('SecretID');
  });

  test('is refused with another region', async () => {
    const body = { EvalOptions: null, ...envelope, Region: 'far' };
    const { json } = await api.call('PUT', '/v1/job/web/evaluate', { body });
    expect(json).toMatchObject({ status: 400, errors: [{ pointer: '/Region' }] });
  });
});

test.each(['dc=far', 'region=far'])('?%s is refused on every route', async (elsewhere) => {
  const [parameter] = elsewhere.split('=');
  const taken = [];
  for (const { method, path, run } of api.api.routes) {
    if (run.kind === 'socket') continue;
    const url = path.replace(/:[a-z_]+\+?/g, 'none');
    const { status, json } = await api.call(method, `${url}?${elsewhere}`, {});
    const isRefused = status === 400 && JSON.stringify(json).includes(`\\"${parameter}\\" must be`);
    if (!isRefused) taken.push(`${method} ${path}: ${status} ${json?.detail}`);
  }
  expect(taken).toEqual([]);
  expect((await api.call('GET', '/v1/acl/policies?dc=dc1&region=global')).status).toBe(200);
});

test.each([
  ['Periodic is nil', ['web']],
  ['Periodic is not nil', []],
  ['ParameterizedJob is not nil', []],
])('jobs are filtered by %s', async (filter, names) => {
  const { json } = await api.call('GET', `/v1/jobs?filter=${encodeURIComponent(filter)}`);
  expect(json.map(({ ID }: { ID: string }) => ID)).toEqual(names);
});

test('a version is tagged and untagged below its versions', async () => {
  const path = '/v1/job/web/versions/gold/tag';
  const body = { Version: 0, Description: 'good' };
  expect((await api.call('POST', path, { body })).json).toMatchObject({ Name: 'gold', Version: 0 });
  const tagged = (await api.call('GET', '/v1/job/web')).json.VersionTag;
  expect(tagged).toMatchObject({ Name: 'gold', Description: 'good' });
  expect((await api.call('DELETE', path)).status).toBe(200);
  expect((await api.call('GET', '/v1/job/web')).json.VersionTag).toBeNull();
});

describe('instants of evaluations and nodes are in RFC 3339', () => {
  const zero = '0001-01-01T00:00:00Z';
  const began = '2026-01-01T00:00:00Z';

  test('in reads, lists, related evaluations, filters and events', async () => {
    const [{ ID, WaitUntil }] = (await api.call('GET', '/v1/job/web/evaluations')).json;
    expect(WaitUntil).toBe(zero);
    const filter = encodeURIComponent(`WaitUntil == "${zero}"`);
    for (const url of [`/v1/evaluations?filter=${filter}`, `/v1/job/web/evaluations`]) {
      expect((await api.call('GET', url)).json).toMatchObject([{ ID, WaitUntil: zero }]);
    }
    const read = await api.call('GET', `/v1/evaluation/${ID}?related=true`);
    expect(read.json).toMatchObject({ ID, WaitUntil: zero });
    const { lines, stop } = await api.follow('/v1/event/stream?topic=Evaluation&index=1');
    await api.settle();
    stop();
    const told = lines.flatMap(({ Events }) => Events ?? []);
    expect(told[0].Payload.Evaluation).toMatchObject({ ID, WaitUntil: zero });
  });

  test('in reads and lists of nodes, whatever form the node reported', async () => {
    const read = async () => (await api.call('GET', `/v1/node/${nodeBody().Node.ID}`)).json;
    for (const told of [Date.UTC(2026, 0, 1) * 1e6, began]) {
      const Drivers = { raw_exec: { Detected: true, Healthy: true, UpdateTime: told } };
      await api.call('PUT', '/v1/node/register', { body: nodeBody({ Drivers }) });
      const node = await read();
      expect(node.Drivers.raw_exec.UpdateTime).toBe(began);
      expect(node.Events[0].Timestamp).toBe(began);
      const [stub] = (await api.call('GET', '/v1/nodes')).json;
      expect(stub.Drivers.raw_exec.UpdateTime).toBe(began);
    }
    const Drivers = { raw_exec: { UpdateTime: 'yesterday' } };
    const { json } = await api.call('PUT', '/v1/node/register', { body: nodeBody({ Drivers }) });
    expect(json).toMatchObject({ status: 400 });
  });
});

test('an evaluation names its deployment', async () => {
  const group = { Update: { MaxParallel: 1 } };
  const { EvalID } = (await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'new' }, group) }))
    .json;
  await api.settle();
  const [{ ID }] = (await api.call('GET', '/v1/job/new/deployments')).json;
  expect((await api.call('GET', `/v1/evaluation/${EvalID}`)).json.DeploymentID).toBe(ID);
});

test('allocations of a node include their job and older fields', async () => {
  const [one] = (await api.call('GET', `/v1/node/${nodeBody().Node.ID}/allocations`)).json;
  expect(one).toMatchObject({ Job: { ID: 'web', Version: 0 }, AllocatedResources: { Tasks: {} } });
  expect(one).toEqual((await api.call('GET', `/v1/allocation/${one.ID}`)).json);
  const { CPU, MemoryMB } = one.Job.TaskGroups[0].Tasks[0].Resources;
  expect(one.TaskResources.server).toMatchObject({ CPU, MemoryMB });
  expect(one.Resources).toMatchObject({ CPU, MemoryMB, DiskMB: one.SharedResources.DiskMB });
});

describe('an absent field of a configuration entry', () => {
  const limits = ['MaxConnections', 'MaxPendingRequests', 'MaxConcurrentRequests'];
  const written = async (entry: { readonly Kind: string; readonly [field: string]: unknown }) => {
    expect((await api.call('PUT', '/v1/config', { body: entry })).status).toBe(200);
    return (await api.call('GET', `/v1/config/${entry.Kind}/edge`)).json;
  };
  const valued = (names: readonly string[], value: number | null) =>
    Object.fromEntries(names.map((name) => [name, value]));

  test.each([null, 0, 7])('is null instead of 0 where limits are %j', async (value) => {
    const Limits = valued(limits, value);
    const Protocol = { Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } };
    await api.call('PUT', '/v1/config', { body: Protocol });
    const Listeners = [{ Port: 80, Protocol: 'http', Services: [{ Name: 'web', ...Limits }] }];
    const ingress = await written({
      Kind: 'ingress-gateway',
      Name: 'edge',
      Listeners,
      Defaults: Limits,
    });
    expect(ingress).toMatchObject({ Defaults: Limits, Listeners: [{ Services: [Limits] }] });
    const listener = { Name: 'l', Port: 80, Protocol: 'http', MaxRequestHeadersKB: value };
    const gateway = await written({
      Kind: 'api-gateway',
      Name: 'edge',
      Listeners: [listener],
    });
    expect(gateway.Listeners[0].MaxRequestHeadersKB).toBe(value);
    const Rules = [{ Services: [{ Name: 'web', Limits }] }];
    const Parents = [{ Kind: 'api-gateway', Name: 'edge' }];
    const route = await written({ Kind: 'http-route', Name: 'edge', Parents, Rules });
    expect(route.Rules[0].Services[0].Limits).toEqual(Limits);
  });

  test('is null where there is no limit', async () => {
    const Listeners = [{ Port: 80, Services: [{ Name: 'web' }] }];
    const { json } = await api.call('PUT', '/v1/config', {
      body: { Kind: 'ingress-gateway', Name: 'edge', Listeners, Defaults: {} },
    });
    expect(json).toBe(true);
    const read = (await api.call('GET', '/v1/config/ingress-gateway/edge')).json;
    expect(read.Defaults).toMatchObject(valued(limits, null));
    expect(read.Listeners[0].Services[0]).toMatchObject(valued(limits, null));
  });
});

test.each(['5s', 5e9])('a cookie that lasts %j is read back in nanoseconds', async (TTL) => {
  const policy = { Field: 'cookie', FieldValue: 'user', CookieConfig: { TTL } };
  const LoadBalancer = { Policy: 'maglev', HashPolicies: [policy] };
  const body = { Kind: 'service-resolver', Name: 'web', ConnectTimeout: '5s', LoadBalancer };
  expect((await api.call('PUT', '/v1/config', { body })).status).toBe(200);
  const read = (await api.call('GET', '/v1/config/service-resolver/web')).json;
  expect(read.LoadBalancer.HashPolicies[0].CookieConfig.TTL).toBe(5e9);
  expect(read.ConnectTimeout).toBe('5s');
  expect((await api.call('PUT', '/v1/config', { body: read })).status).toBe(200);
});

test.each(['5s', 5e9])(
  'times of routes and health checks (%j) are read back in nanoseconds',
  async (time) => {
    const put = async (body: object) => {
      expect((await api.call('PUT', '/v1/config', { body })).json).toBe(true);
    };
    await put({ Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } });
    const TimeoutFilter = { RequestTimeout: time, IdleTimeout: time };
    const Rules = [{ Filters: { TimeoutFilter }, Services: [{ Name: 'web' }] }];
    await put({ Kind: 'http-route', Name: 'web', Parents: [{ Name: 'edge' }], Rules });
    const route = (await api.call('GET', '/v1/config/http-route/web')).json;
    expect(route.Rules[0].Filters.TimeoutFilter).toEqual({ RequestTimeout: 5e9, IdleTimeout: 5e9 });
    const PassiveHealthCheck = { Interval: time, BaseEjectionTime: time };
    const UpstreamConfig = { Defaults: { PassiveHealthCheck } };
    await put({ Kind: 'service-defaults', Name: 'web', UpstreamConfig });
    const service = (await api.call('GET', '/v1/config/service-defaults/web')).json;
    expect(service.UpstreamConfig.Defaults.PassiveHealthCheck).toMatchObject({
      Interval: 5e9,
      BaseEjectionTime: 5e9,
    });
    await put(route);
    await put(service);
  },
);

test('a chain has the lifetime of a cookie in nanoseconds, and other durations as text', async () => {
  const policy = { Field: 'cookie', FieldValue: 'user', CookieConfig: { TTL: '5s' } };
  const LoadBalancer = { Policy: 'maglev', HashPolicies: [policy] };
  const body = { Kind: 'service-resolver', Name: 'web', ConnectTimeout: '6s', LoadBalancer };
  expect((await api.call('PUT', '/v1/config', { body })).status).toBe(200);
  const { Chain } = (await api.call('GET', '/v1/discovery-chain/web')).json;
  const [node] = Object.values(Chain.Nodes) as Record<string, Record<string, unknown>>[];
  expect(node).toMatchObject({
    Resolver: { ConnectTimeout: '6s' },
    LoadBalancer: { HashPolicies: [{ CookieConfig: { TTL: 5e9 } }] },
  });
});

test('a parsed job has its label as name, or its own name', async () => {
  const named = async (JobHCL: string) =>
    (await api.call('POST', '/v1/jobs/parse', { body: { JobHCL } })).json;
  expect(await named('job "web" {}')).toMatchObject({ ID: 'web', Name: 'web', Priority: null });
  expect(await named('job "web" { name = "shop" }')).toMatchObject({ ID: 'web', Name: 'shop' });
});

test('PreserveResources keeps the resources of registered tasks, also in plans', async () => {
  const sized = (CPU: number, change = {}) => ({
    ...jobBody(change, {}, { Resources: { CPU, MemoryMB: 64 } }),
  });
  const size = async () =>
    (await api.call('GET', '/v1/job/web')).json.TaskGroups[0].Tasks[0].Resources;
  await api.call('POST', '/v1/jobs', { body: sized(200) });
  const other = { ...sized(300, { Priority: 60 }), PreserveResources: true };
  const plan = await api.call('POST', '/v1/job/web/plan', { body: { ...other, Diff: true } });
  expect(JSON.stringify(plan.json.Diff)).toContain('Priority');
  expect(JSON.stringify(plan.json.Diff)).not.toContain('CPU');
  for (const path of ['/v1/jobs', '/v1/job/web']) {
    expect((await api.call('POST', path, { body: other })).status).toBe(200);
    expect(await size()).toMatchObject({ CPU: 200 });
  }
  await api.call('POST', '/v1/jobs', { body: sized(300) });
  expect(await size()).toMatchObject({ CPU: 300 });
});

describe('the health of the agent', () => {
  const healthy = { ok: true, message: 'ok' };

  test('includes the server', async () => {
    const { json } = await api.call('GET', '/v1/agent/health');
    expect(json).toEqual({ ...healthy, server: healthy });
    expect((await api.call('GET', '/v1/agent/health?type=server')).json).toEqual(json);
    const none = await api.call('GET', '/v1/agent/health?type=client');
    expect([none.status, none.json.code]).toEqual([503, 'node-unreachable']);
    const other = await api.call('GET', '/v1/agent/health?type=both');
    expect([other.status, other.json.detail]).toEqual([400, expect.stringContaining('client')]);
  });

  test('includes the node, if there is one', async () => {
    const both = await startApi({ node: nodeBody().Node.ID });
    const away = { ok: false, message: 'the node is not registered' };
    const { json } = await both.call('GET', '/v1/agent/health');
    expect(json).toEqual({ ...healthy, server: healthy, client: away });
    const refused = await both.call('GET', '/v1/agent/health?type=client');
    expect([refused.status, refused.json.detail]).toEqual([
      503,
      expect.stringContaining('the node is not registered'),
    ]);
    await both.call('PUT', '/v1/node/register', { body: nodeBody() });
    const known = await both.call('GET', '/v1/agent/health?type=client');
    expect([known.status, known.json]).toEqual([200, { ...healthy, client: healthy }]);
  });
});
