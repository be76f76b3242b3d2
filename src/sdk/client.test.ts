import { expect, test } from 'vitest';
import { ApiError, type Client, ConnectionError, createClient } from './client.ts';
import { indexed, problem, type Reply, type SeenRequest, serve } from './server.test-helper.ts';
import type { Transport } from './transport.ts';

async function request(
  call: (client: Client) => unknown,
  options: { token?: string; namespace?: string } = {},
): Promise<SeenRequest> {
  await using server = await serve(() => indexed(1, {}));
  const client = createClient({ address: server.address, ...options });
  await call(client);
  await client.close();
  return server.seen[0]!;
}

const registration = { Job: { ID: 'web' } };

test.each<[string, (client: Client) => unknown]>([
  ['GET /v1/jobs', (client) => client.jobs.list()],
  [
    'GET /v1/jobs?prefix=we&per_page=2&next_token=t&meta=true',
    (client) => client.jobs.list({ prefix: 'we', perPage: 2, nextToken: 't', meta: true }),
  ],
  [
    'GET /v1/jobs?filter=Status+%3D%3D+%22dead%22&reverse=true',
    (client) => client.jobs.list({ filter: 'Status == "dead"', reverse: true }),
  ],
  ['POST /v1/jobs {"Job":{"ID":"web"}}', (client) => client.jobs.register(registration)],
  ['POST /v1/job/web {"Job":{"ID":"web"}}', (client) => client.jobs.update('web', registration)],
  ['GET /v1/job/web', (client) => client.jobs.read('web')],
  ['GET /v1/job/web%2Fdispatch-1%3F', (client) => client.jobs.read('web/dispatch-1?')],
  [
    'GET /v1/job/web?index=7&wait=30000ms',
    (client) => client.jobs.read('web', { index: 7, waitMs: 30_000 }),
  ],
  ['GET /v1/job/web', (client) => client.jobs.read('web', { index: 0, waitMs: 30_000 })],
  ['GET /v1/job/web?stale=true', (client) => client.jobs.read('web', { stale: true })],
  ['GET /v1/job/web?consistent=true', (client) => client.jobs.read('web', { consistent: true })],
  ['DELETE /v1/job/web', (client) => client.jobs.stop('web')],
  [
    'DELETE /v1/job/web?purge=true&eval_priority=9&no_shutdown_delay=true',
    (client) => client.jobs.stop('web', { purge: true, evalPriority: 9, noShutdownDelay: true }),
  ],
  [
    'GET /v1/job/web/allocations?all=true&resources=true',
    (client) => client.jobs.allocations('web', { all: true, resources: true }),
  ],
  ['GET /v1/job/web/evaluations', (client) => client.jobs.evaluations('web')],
  ['GET /v1/job/web/summary', (client) => client.jobs.summary('web')],
  ['GET /v1/job/web/submission?version=0', (client) => client.jobs.submission('web', 0)],
  [
    'POST /v1/job/web/revert {"JobID":"web","JobVersion":2,"EnforcePriorVersion":3}',
    (client) => client.jobs.revert('web', 2, { priorVersion: 3 }),
  ],
  [
    'POST /v1/job/web/stable {"JobID":"web","JobVersion":2,"Stable":true}',
    (client) => client.jobs.setStability('web', 2, true),
  ],
  [
    'PUT /v1/job/a%2Fb/tag/x%2Fy {"Version":1,"Description":"d"}',
    (client) => client.jobs.tag('a/b', 'x/y', { version: 1, description: 'd' }),
  ],
  ['DELETE /v1/job/web/tag/x', (client) => client.jobs.untag('web', 'x')],
  [
    'POST /v1/job/web/evaluate {"JobID":"web","EvalOptions":{"ForceReschedule":true}}',
    (client) => client.jobs.evaluate('web', { forceReschedule: true }),
  ],
  [
    'GET /v1/jobs/statuses?per_page=5&include_children=true',
    (client) => client.jobs.statuses({ perPage: 5, includeChildren: true }),
  ],
  ['GET /v1/jobs/statuses?job=a%2Fb', (client) => client.jobs.statuses({ job: 'a/b' })],
  ['PUT /v1/system/gc', (client) => client.system.collectGarbage()],
  ['PUT /v1/system/reconcile/summaries', (client) => client.system.reconcileSummaries()],
  [
    'GET /v1/allocations?prefix=1234&task_states=false',
    (client) => client.allocations.list({ prefix: '1234', taskStates: false }),
  ],
  ['GET /v1/allocation/a1', (client) => client.allocations.read('a1')],
  ['PUT /v1/allocation/a1/stop', (client) => client.allocations.stop('a1')],
  ['GET /v1/evaluations', (client) => client.evaluations.list()],
  ['GET /v1/evaluation/e1', (client) => client.evaluations.read('e1')],
  ['GET /v1/evaluation/e1/allocations', (client) => client.evaluations.allocations('e1')],
  ['GET /v1/nodes', (client) => client.nodes.list()],
  ['GET /v1/node/n1', (client) => client.nodes.read('n1')],
  ['GET /v1/node/n1/allocations', (client) => client.nodes.allocations('n1')],
  [
    'PUT /v1/node/register {"Node":{"ID":"n1"},"SecretID":"own"}',
    (client) => client.nodeAgent.register({ ID: 'n1' } as never, 'own'),
  ],
  ['PUT /v1/node/n1/heartbeat', (client) => client.nodeAgent.heartbeat('n1')],
  [
    'GET /v1/node/n1/assignments?index=4',
    (client) => client.nodeAgent.assignments('n1', { index: 4 }),
  ],
  [
    'PUT /v1/node/n1/status {"Allocations":[]}',
    (client) => client.nodeAgent.reportStatus('n1', []),
  ],
  ['GET /v1/status/leader', (client) => client.status.leader()],
  ['GET /v1/agent/self', (client) => client.agent.self()],
  ['PUT /v1/agent/reload', (client) => client.agent.reload()],
  ['GET /v1/agent/health', (client) => client.agent.health()],
])('%s', async (expected, call) => {
  const { method, path, query, body } = await request(call);
  const search = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query)}`;
  const sent = body === undefined ? '' : ` ${JSON.stringify(body)}`;
  expect(`${method} ${path}${search}${sent}`).toBe(expected);
});

test('the token is sent in a header, and the namespace of a call overrides that of the client', async () => {
  const options = { token: 's3cret', namespace: 'dev' };
  const own = await request((client) => client.jobs.list(), options);
  expect(own.headers['x-registry-token']).toBe('s3cret');
  expect(own.query).toEqual({ namespace: 'dev' });
  const named = await request((client) => client.jobs.list({ namespace: '*' }), options);
  expect(named.query).toEqual({ namespace: '*' });
});

test('a token may change between two requests', async () => {
  await using server = await serve(() => indexed(1, {}));
  const tokens = ['introduction', 'own'];
  const client = createClient({ address: server.address, token: () => tokens.shift() });
  await client.nodes.list();
  await client.nodes.list();
  await client.nodes.list();
  expect(server.seen.map(({ headers }) => headers['x-registry-token'])).toEqual([
    'introduction',
    'own',
    undefined,
  ]);
  await client.close();
});

test('an answer carries its index, page, leader and contact', async () => {
  const headers = { ...indexed(12, null).headers, 'x-scheduler-nexttoken': 'default.web' };
  await using server = await serve(() => ({ headers, json: [{ ID: 'api' }] }));
  const client = createClient({ address: server.address });
  expect(await client.jobs.list()).toEqual({
    value: [{ ID: 'api' }],
    index: 12,
    nextToken: 'default.web',
    knownLeader: true,
    lastContactMs: 3,
  });
  await client.close();
});

async function failure(reply: Reply): Promise<ApiError | ConnectionError> {
  await using server = await serve(() => reply);
  const client = createClient({ address: server.address });
  try {
    await client.jobs.read('web');
  } catch (error) {
    return error as ApiError | ConnectionError;
  } finally {
    await client.close();
  }
  throw new Error('it was answered');
}

test('a refusal has its code, sentence, faults and index', async () => {
  const faults = [{ pointer: '/Job/ID', message: 'Job.ID is required' }];
  expect(await failure(problem(400, 'invalid-job', 'The job is wrong.', faults))).toMatchObject({
    name: 'ApiError',
    status: 400,
    code: 'invalid-job',
    message: 'The job is wrong.',
    errors: faults,
    index: 7,
    retryAfterSeconds: undefined,
  });
});

test.each<[string, Reply, string]>([
  [
    'a proxy',
    { status: 502, text: '<h1>Bad gateway</h1>' },
    'GET /v1/job/web was answered 502 with: <h1>Bad gateway</h1>. Is this the address of an agent?',
  ],
  [
    'nothing',
    { status: 500 },
    'GET /v1/job/web was answered 500 without a word. Is this the address of an agent?',
  ],
  [
    'JSON that is no problem',
    { status: 404, json: null },
    'GET /v1/job/web was answered 404 with: null. Is this the address of an agent?',
  ],
  [
    'a redirect',
    { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
    'GET /v1/job/web was answered 302 without a word. Is this the address of an agent?',
  ],
])('a foreign refusal is quoted: %s', async (_, reply, sentence) => {
  expect(await failure(reply)).toMatchObject({ code: 'unexplained', message: sentence });
});

test('an answer that is not JSON is a connection error', async () => {
  expect(await failure({ text: '<html>' })).toMatchObject({
    name: 'ConnectionError',
    code: 'malformed-answer',
    message: expect.stringContaining('answered something other than JSON'),
  });
});

test('a connection cut within the answer is a connection error', async () => {
  const write: Reply['write'] = (response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"ID":');
    response.destroy();
  };
  expect(await failure({ write })).toMatchObject({
    name: 'ConnectionError',
    message: expect.stringContaining('in the middle of its answer'),
  });
});

test.each<[string, number, (client: Client) => Promise<unknown>]>([
  ['a minute', 60_000, (client) => client.jobs.register(registration)],
  ['the time of the caller', 5, (client) => client.jobs.read('web', { timeoutMs: 5, index: 1 })],
  [
    'a minute beyond a wait',
    70_625,
    (client) => client.jobs.read('web', { index: 1, waitMs: 1e4 }),
  ],
  ['an hour of long work', 3_600_000, (client) => client.system.collectGarbage()],
  ['an hour of counting', 3_600_000, (client) => client.system.reconcileSummaries()],
  ['less of long work', 5, (client) => client.system.collectGarbage({ timeoutMs: 5 })],
])('the time to wait for an answer is %s', async (_title, expectedMs, call) => {
  const waited: number[] = [];
  const transport: Transport = {
    send(request) {
      waited.push(request.headTimeoutMs);
      return Promise.reject(new Error('seen'));
    },
    close: () => Promise.resolve(),
  };
  const client = createClient({ address: 'http://127.0.0.1:1', transport });
  await expect(call(client)).rejects.toThrow('seen');
  expect(waited).toEqual([expectedMs]);
});

test('a pending request ends when its signal aborts', async () => {
  const controller = new AbortController();
  await using server = await serve(() => {
    controller.abort(new Error('enough'));
    return { write: () => {} };
  });
  const client = createClient({ address: server.address });
  const { signal } = controller;
  await expect(client.jobs.read('web', { index: 1, signal })).rejects.toThrow('enough');
  await expect(client.jobs.read('web', { signal })).rejects.toThrow('enough');
  expect(server.seen).toHaveLength(1);
  await client.close();
});

test('an address without a listener gives an error with advice', async () => {
  const { address } = await (async () => {
    await using server = await serve(() => ({}));
    return server;
  })();
  const client = createClient({ address });
  await expect(client.jobs.list()).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'ECONNREFUSED',
    message: `Nothing listens at ${address}. Is the agent running? Start one with "roster agent --dev", or point ROSTER_ADDR (or --address) at one that is.`,
  });
  await client.close();
});

test.each([
  ['ftp://127.0.0.1', 'is not the address of an agent'],
  ['', 'is not the address of an agent'],
  ['http://', 'is not the address of an agent'],
  ['127.0.0.1:99999', 'is not the address of an agent'],
  ['http://127.0.0.1:4720/?token=s3cret', 'A token belongs in ROSTER_TOKEN'],
])('the address "%s" is refused', (address, sentence) => {
  expect(() => createClient({ address })).toThrow(sentence);
  expect(() => createClient({ address })).toThrow(ConnectionError);
  expect(() => createClient({ address })).not.toThrow('s3cret');
});

test.each([
  ['http://127.0.0.1:4720', 'ws://127.0.0.1:4720/v1/node/n1/stream'],
  ['127.0.0.1:4720', 'ws://127.0.0.1:4720/v1/node/n1/stream'],
  ['https://roster.example/fleet/', 'wss://roster.example/fleet/v1/node/n1/stream'],
])('the stream of a node at %s is %s', (address, url) => {
  const client = createClient({ address, token: 's3cret' });
  expect(client.nodeAgent.stream('n1')).toEqual({ url, headers: { 'x-registry-token': 's3cret' } });
});

test('the base path precedes every path', async () => {
  await using server = await serve(() => indexed(1, {}));
  const client = createClient({ address: `${server.address}/fleet/` });
  await client.jobs.read('web');
  expect(server.seen[0]!.path).toBe('/fleet/v1/job/web');
  await client.close();
});

test('logs arrive while they are written, and the request ends when the reader leaves', async () => {
  let closed: () => void = () => {};
  const gone = new Promise<void>((resolve) => {
    closed = resolve;
  });
  await using server = await serve(() => ({
    write(response) {
      response.writeHead(200).write('one\n');
      response.on('close', closed);
    },
  }));
  const client = createClient({ address: server.address });
  const pieces: string[] = [];
  const logs = client.logs.read({ allocation: 'a1', task: 'server', follow: true, offset: 9 });
  for await (const piece of logs) {
    pieces.push(Buffer.from(piece).toString());
    break;
  }
  await gone;
  expect(pieces).toEqual(['one\n']);
  expect(server.seen[0]).toMatchObject({
    path: '/v1/client/fs/logs/a1',
    query: { task: 'server', type: 'stdout', follow: 'true', plain: 'true', offset: '9' },
  });
  await client.close();
});

test('a refusal of logs is an API error', async () => {
  await using server = await serve(() => problem(404, 'task-not-found', 'No such task.'));
  const client = createClient({ address: server.address });
  const logs = client.logs.read({ allocation: 'a1', task: 'none' });
  await expect(logs[Symbol.asyncIterator]().next()).rejects.toThrow(ApiError);
  await client.close();
});
