/** `GET /v1/event/stream`. Source: docs/guides/events.md#over-http. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { PushedBody } from '../../src/api/http.ts';
import { limits } from '../../src/model/limits.ts';
import { aclOf } from '../support/acl.ts';
import { jobBody, rootToken, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';
import { testsFollower } from '../support/follower.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const stream = '/v1/event/stream';
const register = async (changes: object = {}, group: object = {}) => {
  const { status, text } = await api.call('POST', '/v1/jobs', { body: jobBody(changes, group) });
  if (status !== 200) throw new Error(text);
  await api.settle();
};

interface Told {
  readonly Topic: string;
  readonly Type: string;
  readonly Key: string;
}
const eventsIn = (lines: readonly { Events?: readonly Told[] }[]) =>
  lines.flatMap(({ Events }) => Events ?? []);
const keysIn = (lines: readonly { Events?: readonly Told[] }[]) =>
  eventsIn(lines).map(({ Key }) => Key);

describe('events', () => {
  test('of a job, its evaluation and its allocation come in order, from registration to end', async () => {
    const fleet = new Fleet(api);
    await fleet.join(1);
    const { lines } = await api.follow(`${stream}?topic=Job&topic=Allocation&topic=Evaluation`);
    await api.settle();
    expect(lines).toEqual([{}]);
    await register();
    await fleet.obey();
    await api.settle();
    await api.call('DELETE', '/v1/job/web');
    await api.settle();
    await fleet.obey();
    await api.settle();
    const told = eventsIn(lines).map(({ Topic, Type }) => `${Topic} ${Type}`);
    expect(told.filter((one, at) => told.indexOf(one) === at)).toEqual([
      'Job JobRegistered',
      'Evaluation EvaluationUpdated',
      'Allocation AllocationCreated',
      'Job JobUpdated',
      'Allocation AllocationUpdated',
      'Job JobDeregistered',
      'Allocation AllocationUpdateDesiredStatus',
    ]);
    const indexes = lines.slice(1).map(({ Index }) => Index as number);
    expect(indexes).toEqual([...indexes].sort((left, right) => left - right));
    expect(lines[1].Events[0]).toMatchObject({
      Topic: 'Job',
      Key: 'web',
      Namespace: 'default',
      FilterKeys: [],
      Index: lines[1].Index,
      Payload: { Job: { ID: 'web', Version: 0 } },
    });
  });

  test.each([
    ['drain', 'NodeDrain', { DrainSpec: { Deadline: 60_000_000_000 }, MarkEligible: false }],
    ['eligibility', 'NodeEligibility', { Eligibility: 'ineligible' }],
  ])('of a node include its %s', async (action, type, body) => {
    const { lines } = await api.follow(`${stream}?topic=Node`);
    const fleet = new Fleet(api);
    await fleet.join(1);
    await api.call('PUT', `/v1/node/${idOf(1)}/${action}`, { body });
    await api.settle();
    const types = eventsIn(lines).map(({ Type }) => Type);
    expect([types[0], types.at(-1)]).toEqual(['NodeRegistration', type]);
    expect(JSON.stringify(lines)).not.toContain('SecretHash');
  });

  test('of plans tell their fate, without the act, to those who may read them', async () => {
    const fleet = new Fleet(api);
    await fleet.join(1);
    const acl = aclOf(api);
    const writes = await acl.holder('node "n1" { policy = "write" }');
    const stranger = await acl.holder('node "n1" { policy = "read" }');
    const path = `${stream}?topic=Plan&namespace=*`;
    const mine = await api.follow(path);
    const [may, mayNot] = [await api.follow(path, writes), await api.follow(path, stranger)];
    const NodeID = idOf(1);
    const plan = async (Eligibility: string) => {
      const body = { Kind: 'eligibility', NodeID, Eligibility };
      const made = api.call('POST', '/v1/plan', { body });
      await api.settle();
      return (await made).json.ID;
    };
    const end = async (method: string, rest: string) => {
      const ended = api.call(method, `/v1/plan/${rest}`, { body: {} });
      await api.settle();
      return (await ended).status;
    };
    const [first, second] = [await plan('ineligible'), await plan('ineligible')];
    expect(await end('PUT', `${first}/apply`)).toBe(200);
    expect(await end('PUT', `${second}/apply`)).toBe(409);
    expect(await end('DELETE', second)).toBe(200);
    await api.world.advance(limits.plan.keptMs);
    await api.call('PUT', '/v1/system/gc', { body: {} });
    await api.settle();
    const fates = eventsIn(mine.lines).map(({ Type, Key }) => [Type, Key]);
    expect(fates).toEqual([
      ['PlanMade', first],
      ['PlanMade', second],
      ['PlanCarriedOut', first],
      ['PlanOutdated', second],
      ['PlanDiscarded', second],
      ['PlanExpired', first],
    ]);
    expect(eventsIn(may.lines)).toEqual(eventsIn(mine.lines));
    expect(eventsIn(mayNot.lines)).toEqual([]);
    expect(eventsIn(mine.lines)[0]).toMatchObject({
      Namespace: '',
      FilterKeys: ['eligibility', NodeID, 'n1'],
      Payload: { Plan: { ID: first, Kind: 'eligibility', CarriedOutIndex: 0 } },
    });
    expect(JSON.stringify(mine.lines)).not.toContain('Sealed');
  });

  test('of access control contain no secrets', async () => {
    const { lines } = await api.follow(`${stream}?topic=ACLToken&topic=ACLPolicy`);
    const acl = aclOf(api);
    const secret = await acl.holder('operator = "read"');
    await api.settle();
    expect(eventsIn(lines).map(({ Type }) => Type)).toEqual([
      'ACLPolicyUpserted',
      'ACLTokenUpserted',
    ]);
    expect(JSON.stringify(lines)).not.toContain(secret);
  });

  test('match keys of the record and of its owner', async () => {
    const one = await api.follow(`${stream}?topic=Job:one&topic=Evaluation:one`);
    await register({ ID: 'two' });
    await register({ ID: 'one' });
    const keys = new Set(eventsIn(one.lines).map(({ Topic }) => Topic));
    expect(keys).toEqual(new Set(['Job', 'Evaluation']));
    expect(JSON.stringify(one.lines)).not.toContain('"two"');
  });

  test('without records are the same events in the same order', async () => {
    const path = `${stream}?topic=Job&topic=Evaluation`;
    const whole = await api.follow(path);
    const brief = await api.follow(`${path}&without_records=true`);
    await register();
    await register({ Priority: 60 });
    const told = eventsIn(whole.lines);
    expect(told.length).toBeGreaterThan(3);
    expect(eventsIn(brief.lines)).toEqual(told.map((event) => ({ ...event, Payload: {} })));
  });

  test('are interspersed with heartbeats', async () => {
    const { lines } = await api.follow(`${stream}?topic=Job`);
    await api.world.advance(limits.events.heartbeatMs * 2.5);
    expect(lines).toEqual([{}, {}, {}]);
  });

  test('of other topics keep no heartbeat from a reader', async () => {
    const { lines } = await api.follow(`${stream}?topic=Node`);
    for (let half = 0; half < 5; half++) {
      await api.world.advance(limits.events.heartbeatMs / 2);
      await register({ ID: `job-${half}` });
    }
    expect(lines).toEqual([{}, {}, {}]);
  });

  test('reach many readers in order, although they are told in rounds', async () => {
    const readers = limits.events.readersPerPauseMs * 4;
    const path = `${stream}?topic=Job&namespace=*`;
    const all = await Promise.all(Array.from({ length: readers }, () => api.follow(path)));
    const ids = ['one', 'two', 'three'];
    for (const ID of ids) await api.call('POST', '/v1/jobs', { body: jobBody({ ID }) });
    await api.world.advance(100);
    const [first] = all;
    expect([...new Set(keysIn(first!.lines))]).toEqual(ids);
    for (const { lines } of all) expect(lines).toEqual(first!.lines);
  });

  test('wait for a reader that is full, and go on where it was', async () => {
    const told: string[] = [];
    let drain = () => {};
    let isFull = true;
    const headers = { 'x-registry-token': rootToken };
    const query = 'topic=Job';
    const { body } = await api.api.handle({
      method: 'GET',
      path: stream,
      query,
      headers,
      body: undefined,
    });
    (body as PushedBody).writeTo({
      write: (bytes) => {
        told.push(Buffer.from(bytes).toString());
        return !isFull;
      },
      end: () => {},
      on: (_, run) => {
        drain = run;
      },
    });
    await register({ ID: 'one' });
    await register({ ID: 'two' });
    expect(told).toEqual(['{}\n']);
    isFull = false;
    drain();
    const lines = told
      .join('')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([...new Set(keysIn(lines))]).toEqual(['one', 'two']);
  });

  test('of a large commit come in several lines with the same index', async () => {
    const fleet = new Fleet(api);
    await fleet.join(4, {
      NodeResources: {
        Cpu: { CpuShares: 1_000_000 },
        Memory: { MemoryMB: 1_000_000 },
        Disk: { DiskMB: 10_000_000 },
      },
    });
    const { lines } = await api.follow(`${stream}?topic=Allocation`);
    const count = limits.events.perFrameMax + 1;
    await register({}, { Count: count });
    expect(eventsIn(lines)).toHaveLength(count);
    expect(lines.every(({ Events = [] }) => Events.length <= limits.events.perFrameMax)).toBe(true);
  });
});

describe('the start', () => {
  test('at a known index includes that index', async () => {
    await register({ ID: 'one' });
    const { ModifyIndex } = (await api.call('GET', '/v1/job/one')).json;
    await register({ ID: 'two' });
    const { lines } = await api.follow(`${stream}?topic=Job&index=${ModifyIndex}`);
    await api.settle();
    expect([...new Set(keysIn(lines))]).toEqual(['one', 'two']);
    expect(eventsIn(lines)[0]).toMatchObject({ Type: 'JobUpdated', Index: ModifyIndex });
  });

  test('at a forgotten index is reported as missed, and the rest follows', async () => {
    await register({ ID: 'one' });
    const { lines } = await api.follow(`${stream}?topic=Job&index=1`);
    await api.settle();
    // A server that was there from the first transaction on has forgotten none.
    if (!testsFollower) expect(lines[1]).toMatchObject({ Missed: true, Events: [] });
    expect(lines[1].Index).toBeGreaterThan(1);
    expect(new Set(keysIn(lines))).toEqual(new Set(['one']));
  });
});

describe('permissions', () => {
  const inShop = 'namespace "shop" { capabilities = ["read-job"] }';

  test.each([
    ['topic=Job', 'namespace "default" { policy = "read" }', 200],
    ['topic=Job', inShop, 403],
    ['topic=Job&namespace=shop', inShop, 200],
    ['topic=Job&namespace=*', inShop, 200],
    ['topic=Node', 'node_prefix "" { policy = "read" }', 200],
    ['topic=Node', inShop, 403],
    ['topic=Plan', inShop, 200],
    ['topic=Job&topic=Node', 'namespace "default" { policy = "read" }', 403],
    ['topic=ACLToken', 'acl = "write"', 403],
    ['topic=*', 'acl = "write"', 403],
    ['', 'acl = "write"', 403],
    ['topic=Nothing', 'acl = "write"', 400],
  ])('%s with %s: %i', async (query, rules, status) => {
    const token = await aclOf(api).holder(rules);
    const answer = await api.call('GET', `${stream}?${query}`, { token });
    expect(answer.status).toBe(status);
  });

  test('in all namespaces select the events that the token may read', async () => {
    await api.call('PUT', '/v1/namespace/shop', { body: {} });
    const token = await aclOf(api).holder(inShop);
    const { lines } = await api.follow(`${stream}?topic=Job&namespace=*`, token);
    await register({ ID: 'hidden' });
    await register({ ID: 'seen', Namespace: 'shop' });
    expect(new Set(keysIn(lines))).toEqual(new Set(['seen']));
  });

  test('are those of each token, although others ask for the same', async () => {
    await api.call('PUT', '/v1/namespace/shop', { body: {} });
    const inDefault = 'namespace "default" { capabilities = ["read-job"] }';
    const holders = [inShop, inDefault].map((rules) => aclOf(api).holder(rules));
    const tokens = await Promise.all(holders);
    const path = `${stream}?topic=Job&namespace=*`;
    const [shop, home] = await Promise.all(tokens.map((token) => api.follow(path, token)));
    await register({ ID: 'at-home' });
    await register({ ID: 'in-shop', Namespace: 'shop' });
    expect(new Set(keysIn(shop!.lines))).toEqual(new Set(['in-shop']));
    expect(new Set(keysIn(home!.lines))).toEqual(new Set(['at-home']));
  });

  test('end the stream with a reason when the token is deleted', async () => {
    const acl = aclOf(api);
    const { ID } = await acl.policy('reads', { Rules: 'namespace "default" { policy = "read" }' });
    const { SecretID, AccessorID } = await acl.token({ Policies: [{ ID }] });
    const { lines, isOver } = await api.follow(`${stream}?topic=Job`, SecretID);
    await api.settle();
    await api.call('DELETE', `/v1/acl/token/${AccessorID}`);
    await isOver;
    expect(lines.at(-1)).toMatchObject({ Error: { Code: 'token-not-found' } });
  });
});

describe('bounds', () => {
  test('refuse one reader too many, until another leaves', async () => {
    const all = await Promise.all(
      Array.from({ length: limits.events.readersMax }, () => api.follow(`${stream}?topic=Job`)),
    );
    expect((await api.follow(`${stream}?topic=Job`)).status).toBe(429);
    all[0]!.stop();
    expect((await api.follow(`${stream}?topic=Job`)).status).toBe(200);
  });

  test('refuse too many topics', async () => {
    const query = Array.from({ length: limits.events.topicsMax + 1 }, () => 'topic=Job').join('&');
    expect((await api.call('GET', `${stream}?${query}`)).status).toBe(400);
  });
});
