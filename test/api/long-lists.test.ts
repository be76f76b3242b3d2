import { afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Answer } from '../../src/api/http.ts';
import { HttpServer } from '../../src/api/http-server.ts';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { type Allocation, AllocationSchema } from '../../src/model/allocation/allocation.ts';
import { complete } from '../../src/model/complete.ts';
import { limits } from '../../src/model/limits.ts';
import { aclTokens, allocations, inNamespace } from '../../src/state/tables.ts';
import { aclOf } from '../support/acl.ts';
import { jobBody, rootToken, startApi, type TestApi } from '../support/api.ts';
import { testsFollower } from '../support/follower.ts';

// A list is long if making it takes time. Simulated time stands still while code runs, so here each
// reading of the clock advances it.
let lookMs = 0;
const world = Object.assign(new SimulatedWorld(1), tickingClock(new SimulatedWorld(1)));
const slow = limits.list.atOnceMs;

function tickingClock({ clock }: SimulatedWorld) {
  let passedMs = 0;
  return {
    clock: {
      nowMs: clock.nowMs,
      monotonicMs: () => {
        passedMs += lookMs;
        return passedMs;
      },
    },
  };
}

let api: TestApi;
let acl: ReturnType<typeof aclOf>;
/** A token that sees the tokens of one namespace only. */
let seesShop: string;
const count = 5 * limits.list.rowsPerStep;

beforeAll(async () => {
  api = await startApi({ world });
  acl = aclOf(api);
  await api.call('PUT', '/v1/namespace', { body: { Name: 'shop' } });
  const { ID } = await acl.policy('first', {});
  const { ID: role } = await acl.role('ops', { Policies: [{ ID }] });
  for (let number = 0; number < count; number++) {
    const Description = `number ${number} “${'é'.repeat(number % 3)}”`;
    const query = number % 3 === 0 ? '?ns=shop' : '';
    await acl.token({ Description, Policies: [{ ID }], Roles: [{ ID: role }] }, query);
  }
  for (let number = 0; number < count; number++) {
    await api.call('POST', '/v1/jobs', { body: jobBody({ ID: `job-${number}` }) });
  }
  await api.settle();
  const { ID: reader } = await acl.policy('reader', {
    Rules: 'namespace_prefix "sh" { acl = "read" }',
  });
  seesShop = (await acl.token({ Policies: [{ ID: reader }] })).SecretID;
});

afterEach(() => {
  lookMs = 0;
});

/** Runs the function while each reading of the clock takes this long, and restores the clock. */
async function taking<T>(ms: number, run: () => Promise<T>): Promise<T> {
  lookMs = ms;
  try {
    return await run();
  } finally {
    lookMs = 0;
  }
}

/** Resolves with the promise and lets turns run meanwhile. */
async function through<T>(promise: Promise<T>, on: TestApi = api): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  promise.then(over, over);
  while (!isOver) await on.world.advance(0);
  return promise;
}

async function call(url: string, options = {}) {
  const { status, headers, text, json } = await through(api.call('GET', url, options));
  return { status, headers, text, json };
}

/** The answer before its body is read. */
function ask(url: string, onGone?: (run: () => void) => () => void): Promise<Answer> {
  const [path = '', query = ''] = url.split('?');
  const headers = { 'x-registry-token': rootToken };
  const request = { method: 'GET', path, query, headers, body: undefined };
  return Promise.resolve(api.api.handle({ ...request, ...(onGone && { onGone }) }));
}

async function partsOf({ body }: Answer): Promise<string[]> {
  const parts: string[] = [];
  for await (const part of body as AsyncIterable<Uint8Array>) parts.push(String(part));
  return parts;
}

describe('a list made in turns is byte for byte equal to one made at once', () => {
  test.each([
    ['tokens', '/v1/acl/tokens', 200],
    ['backwards', '/v1/acl/tokens?reverse', 200],
    ['indented', '/v1/acl/tokens?pretty', 200],
    ['filtered', '/v1/acl/tokens?filter=Description+contains+%22number+1%22', 200],
    ['of which a filter leaves none', '/v1/acl/tokens?filter=Description+==+none', 200],
    ['none, indented', '/v1/acl/tokens?pretty&filter=Description+==+none', 200],
    ['a page', `/v1/acl/tokens?per_page=${count / 2}`, 200],
    ['an indented page', `/v1/acl/tokens?pretty&per_page=${count / 2}`, 200],
    ['of every namespace', '/v1/acl/tokens?ns=*', 200],
    ['jobs', '/v1/jobs', 200],
    ['evaluations', '/v1/evaluations', 200],
    ['of which there is none', '/v1/jobs?namespace=nowhere', 200],
    ['of a missing job', '/v1/job/nothing/evaluations', 404],
    ['an invalid filter', '/v1/acl/tokens?filter=x', 400],
  ])('%s', async (_title, url, status) => {
    for (const token of [rootToken, seesShop]) {
      const atOnce = await call(url, { token });
      // With one step per turn, and with several.
      for (const ms of [slow, limits.list.sliceMs / 3]) {
        const inTurns = await taking(ms, () => call(url, { token }));
        expect(inTurns).toEqual(atOnce);
      }
      if (token === rootToken) expect(atOnce.status).toBe(status);
    }
  });

  test('a caller who sees a part of it is told so', async () => {
    const { headers, json } = await taking(slow, () =>
      call('/v1/acl/tokens?ns=*', { token: seesShop }),
    );
    expect(headers['x-registry-results-filtered-by-acls']).toBe('true');
    expect(json).toHaveLength(Math.ceil(count / 3));
  });

  test('its pages contain every token once', async () => {
    const all = (await call('/v1/acl/tokens')).json;
    const paged = await taking(slow, async () => {
      const found: unknown[] = [];
      for (let next: string | undefined = ''; next !== undefined; ) {
        const page = await call(`/v1/acl/tokens?per_page=33&next_token=${next}`);
        found.push(...page.json);
        next = page.headers['x-registry-nexttoken'];
      }
      return found;
    });
    expect(paged).toEqual(all);
  });
});

test('a short list is a text, without a promise', async () => {
  const request = { method: 'GET', path: '/v1/acl/tokens', query: '', body: undefined };
  const made = api.api.handle({ ...request, headers: { 'x-registry-token': rootToken } });
  // A follower first asks how far the log is.
  expect(made instanceof Promise).toBe(testsFollower);
  expect((await made).body).toBeTypeOf('string');
});

test('other requests are answered while a long list is made and read', async () => {
  lookMs = slow;
  const asked = ask('/v1/acl/tokens');
  let isAnswered = false;
  void asked.then(() => {
    isAnswered = true;
  });
  const other = await api.call('GET', '/v1/job/job-1');
  expect([other.status, isAnswered]).toEqual([200, false]);
  const { headers, body } = await through(asked);
  expect(Number(headers['x-registry-index'])).toBeGreaterThan(0);
  const parts = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  await through(parts.next());
  const next = parts.next();
  expect((await api.call('GET', '/v1/job/job-1')).status).toBe(200);
  expect((await through(next)).done).toBe(false);
});

test('changes meanwhile are not in it', async () => {
  const atOnce = await call('/v1/acl/tokens');
  const inTurns = await taking(slow, async () => {
    const asked = ask('/v1/acl/tokens');
    // A follower first asks how far the log is.
    if (testsFollower) await api.settle();
    const added = await acl.token({ Description: 'added while it was made' });
    const answer = await through(asked);
    await api.call('PUT', `/v1/acl/token/${added.AccessorID}`, { body: { Description: 'again' } });
    await acl.policy('second', {});
    for (const { AccessorID } of atOnce.json.slice(0, 3)) {
      await api.call('PUT', `/v1/acl/token/${AccessorID}`, { body: { Description: 'changed' } });
    }
    const parts = partsOf(answer);
    await api.call('DELETE', `/v1/acl/token/${added.AccessorID}`);
    return { headers: answer.headers, parts: await through(parts) };
  });
  expect(inTurns.parts.join('')).toBe(atOnce.text);
  expect(inTurns.headers).toEqual(atOnce.headers);
  // Its text is not made before it is read.
  expect(inTurns.parts.length).toBeGreaterThan(2);
});

test('a blocking query for a long list waits like others', async () => {
  const { headers } = await call('/v1/acl/tokens');
  const index = Number(headers['x-registry-index']);
  const woken = await taking(slow, async () => {
    const waiting = api.call('GET', `/v1/acl/tokens?index=${index}&wait=10m`);
    await api.settle();
    const added = await acl.token({ Description: 'wakes it' });
    const answer = await through(waiting);
    expect(Number(answer.headers['x-registry-index'])).toBe(added.ModifyIndex);
    return answer;
  });
  expect(woken.text).toBe((await call('/v1/acl/tokens')).text);
});

test('work stops when the caller has disconnected', async () => {
  await api.settle();
  const timers = api.world.pendingTimers;
  lookMs = slow;
  const leaving = Promise.withResolvers<void>();
  const asked = ask('/v1/acl/tokens', (run) => {
    void leaving.promise.then(run);
    return () => {};
  });
  leaving.resolve();
  expect((await through(asked)).status).toBe(499);
  expect(api.world.pendingTimers).toBe(timers);
});

test('a bug after the answer has begun cuts the answer and is logged', async () => {
  const lines: string[] = [];
  const events = 'all' as const;
  const broken = await startApi({
    world: Object.assign(new SimulatedWorld(2), tickingClock(new SimulatedWorld(2))),
    audit: { sink: { write: (line) => lines.push(line) }, events },
  });
  const { AccessorID } = await aclOf(broken).token();
  await broken.state.write((transaction) => {
    const table = transaction.table(aclTokens);
    table.put({ ...table.get('default', 'default', AccessorID)!, SecretSealed: 'nothing' });
  });
  lines.length = 0;
  const atOnce = await broken.call('GET', '/v1/acl/tokens');
  expect([atOnce.status, atOnce.json.code]).toEqual([500, 'internal-error']);
  for (let number = 0; number < count; number++) await aclOf(broken).token();
  lines.length = 0;
  lookMs = slow;
  const asked = broken.call('GET', '/v1/acl/tokens');
  await expect(through(asked, broken)).rejects.toThrow(/sealed/);
  expect(lines.map((line) => JSON.parse(line).status)).toEqual([200, 500]);
});

test('the scale status of a job with many instances is made in turns', async () => {
  const large = await startApi({ world });
  await large.call('POST', '/v1/jobs', { body: jobBody({}, { Count: 0 }) });
  await large.settle();
  const { CreateIndex } = (await large.call('GET', '/v1/job/web')).json;
  const some = { Namespace: 'default', JobID: 'web', TaskGroup: 'web', ClientStatus: 'running' };
  await large.state.write((transaction) => {
    for (let number = 0; number < 5000; number++) {
      const own = { ID: `a-${number}`, JobCreateIndex: CreateIndex };
      transaction
        .table(allocations)
        .put(complete(AllocationSchema, { ...some, ...own }) as Allocation);
    }
  });
  const path = '/v1/job/web/scale';
  const atOnce = await large.call('GET', path);
  expect(atOnce.json.TaskGroups.web).toMatchObject({ Desired: 0, Placed: 5000, Running: 5000 });
  const inTurns = await taking(slow, async () => {
    const asked = large.call('GET', path);
    let isAnswered = false;
    void asked.then(() => {
      isAnswered = true;
    });
    expect((await large.call('GET', '/v1/job/web')).status).toBe(200);
    expect(isAnswered).toBe(false);
    // Later writes are not seen.
    await large.state.write((transaction) => {
      const table = transaction.table(allocations);
      table.delete(...inNamespace('default', 'a-4999'));
    });
    return through(asked, large);
  });
  expect([inTurns.text, inTurns.headers]).toEqual([atOnce.text, atOnce.headers]);
});

describe('over HTTP', () => {
  const headers = { 'content-type': 'application/json', 'x-registry-index': '7' };
  const parts = ['[{"a":1}', ',{"b":2}', ']'];

  async function* list(fails: boolean): AsyncGenerator<Uint8Array> {
    for (const part of parts) yield Buffer.from(part);
    if (fails) throw new Error('a bug');
  }

  async function serve(fails: boolean, acceptEncoding: string): Promise<Response> {
    const server = new HttpServer({
      readsBody: () => false,
      handle: () => ({ status: 200, headers, body: list(fails) }),
      refuse: () => ({ status: 400, headers: {}, body: undefined }),
      upgrade: { isAsked: () => false, take: () => {} },
      connections: { perAddressMax: 0, perLoopbackMax: 0 },
    });
    onTestFinished(() => server.close());
    const port = await server.listen({ host: '127.0.0.1', port: 0 });
    return fetch(`http://127.0.0.1:${port}/`, { headers: { 'accept-encoding': acceptEncoding } });
  }

  test.each([
    ['gzip', 'gzip'],
    ['identity', null],
  ])('a long list is sent while it is made: %s', async (accepted, encoding) => {
    const answer = await serve(false, accepted);
    expect(answer.headers.get('content-encoding')).toBe(encoding);
    expect(answer.headers.get('x-registry-index')).toBe('7');
    expect(await answer.text()).toBe(parts.join(''));
  });

  test.each(['gzip', 'identity'])('a list that fails on the way is cut: %s', async (accepted) => {
    const cut = async () => (await serve(true, accepted)).text();
    await expect(cut()).rejects.toThrow();
  });
});
