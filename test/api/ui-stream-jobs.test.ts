import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, createAgent } from '../../src/agent.ts';
import { jobBody, rootToken } from '../support/api.ts';
import { type Fate, Fleet } from '../support/fleet.ts';
import { introduction } from '../support/introduction.ts';
import { openUiSocket, type UiSocket } from '../support/ui-stream.ts';

let agent: Agent;
let fleet: Fleet;
let ui: UiSocket;

async function call(method: string, url: string, { body, token = rootToken }: CallOptions = {}) {
  const answer = await fetch(`${agent.address}${url}`, {
    method,
    headers: { ...(token !== null && { 'x-registry-token': token }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const [total, nextToken] = ['total', 'nexttoken'].map(
    (name) => answer.headers.get(`x-scheduler-${name}`) ?? undefined,
  );
  return {
    status: answer.status,
    json: text === '' ? undefined : JSON.parse(text),
    total,
    nextToken,
  };
}

interface CallOptions {
  readonly body?: unknown;
  readonly token?: string | null;
}

beforeAll(async () => {
  agent = await createAgent({ http: { host: '127.0.0.1', port: 0 }, rootToken });
  const { json } = await call('POST', '/v1/node/introduction-token', {
    body: { Uses: 2 },
  });
  const introducing = ({ token, ...options }: CallOptions) =>
    ({ ...options, token: token === introduction ? json.SecretID : token }) as CallOptions;
  fleet = new Fleet({
    call: (method, url, options = {}) => call(method, url, introducing(options)),
    world: { advance: () => Promise.resolve() },
  });
  await fleet.join(2);
  ui = openUiSocket(agent.address!, { token: rootToken });
});

afterAll(async () => {
  ui.socket.terminate();
  await agent.close('stop');
});

async function write(method: string, url: string, body?: unknown): Promise<void> {
  const { status, json } = await call(method, url, { body });
  expect([url, status, json?.detail]).toEqual([url, 200, undefined]);
}

const paths = [
  '/v1/jobs/statuses?namespace=*&per_page=3&total=true',
  '/v1/jobs/statuses?per_page=2&total=true&include_children=true',
  '/v1/jobs/statuses?namespace=*&per_page=2&total=true&sort=ID',
];

test('a watched list of jobs shows the allocations, deployments and children of now', async () => {
  for (const [id, path] of paths.entries()) ui.send({ kind: 'watch', id, path });
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const change = fc.oneof(
    fc.record({ kind: fc.constant('service'), name, count: fc.nat(3) }),
    fc.record({ kind: fc.constant('dispatch'), name: fc.constant('parent'), count: fc.nat(1) }),
    fc.record({ kind: fc.constant('report'), name, count: fc.nat(3) }),
    fc.record({ kind: fc.constant('gone'), name, count: fc.nat(1) }),
  );
  const parent = jobBody({ ID: 'parent', Type: 'batch', ParameterizedJob: {} }, { Count: 1 });
  await write('POST', '/v1/jobs', parent);
  const first = [
    { kind: 'service', name: 'a', count: 2 },
    { kind: 'report', name: 'a', count: 0 },
    { kind: 'service', name: 'b', count: 0 },
    { kind: 'report', name: 'a', count: 3 },
    { kind: 'dispatch', name: 'parent', count: 0 },
    { kind: 'report', name: 'a', count: 1 },
  ];
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      for (const { kind, name: id, count } of changes) await make(kind, id, count);
      await ui.until(async () => {
        const whole = await Promise.all(paths.map((path) => call('GET', path)));
        for (const [at, { json, total, nextToken }] of whole.entries()) {
          const about = ui.heard.findLast((message) => message.id === at);
          const watched = [paths[at], ui.values.get(at), `${about?.total}`, about?.nextToken];
          expect(watched).toEqual([paths[at], json, total, nextToken]);
        }
      });
    }),
    {
      numRuns: 12,
      endOnFailure: true,
      examples: first.map((one) => [[one]] as [typeof first]),
    },
  );
  const shown = ui.heard.filter(({ kind }) => kind === 'change' || kind === 'value');
  for (const part of ['"ClientStatus":"failed"', '"Healthy":true', '"ChildStatuses":["']) {
    expect([part, shown.some((message) => JSON.stringify(message).includes(part))]).toEqual([
      part,
      true,
    ]);
  }
});

/** The last lets a job go on with its other allocations, so that no row of the job changes. */
const fates: readonly Fate[] = [
  () => 'running',
  () => 'failed',
  () => 'complete',
  ({ Name }) => (Name.endsWith('[0]') ? 'failed' : undefined),
];

async function make(kind: string, id: string, count: number): Promise<void> {
  if (kind === 'service') {
    const Update = { MaxParallel: 1, HealthCheck: 'task_states', MinHealthyTime: 0 };
    await write(
      'POST',
      '/v1/jobs',
      jobBody({ ID: id, Priority: 50 + count }, { Count: count, Update }),
    );
  } else if (kind === 'dispatch') await write('POST', `/v1/job/${id}/dispatch`, {});
  else if (kind === 'report') {
    await fleet.beat();
    await fleet.obey(fates[count]);
  } else await call('DELETE', `/v1/job/${id}?purge=${count === 1}`);
}
