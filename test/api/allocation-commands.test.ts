import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { StreamFault } from '../../src/model/node-stream/byte-stream.ts';
import { socketPair } from '../../src/model/node-stream/socket-pair.test-helper.ts';
import { StreamConnection } from '../../src/model/node-stream/stream-connection.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';

let api: TestApi;
let fleet: Fleet;
let id: string;
/** The questions to the node, and its reaction. */
let asked: object[];
let answer: () => Promise<void>;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
  await fleet.join(1);
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
  await fleet.obey();
  id = (await api.call('GET', '/v1/allocations')).json[0].ID;
  asked = [];
  answer = async () => {};
  const [near, far] = socketPair();
  api.server.streams.add(idOf(1), new StreamConnection({ socket: near, side: 'server' }));
  const node = new StreamConnection({ socket: far, side: 'node' });
  for (const kind of ['restart', 'signal']) {
    node.accept(kind, async (_stream, given) => {
      asked.push({ kind, ...given });
      await answer();
    });
  }
});

const ask = (word: string, body?: object, alloc = id) =>
  api.call('PUT', `/v1/client/allocation/${alloc}/${word}`, { ...(body && { body }) });

test.each([
  ['restart', undefined, { kind: 'restart', task: '', all: false }],
  ['restart', { TaskName: 'server' }, { kind: 'restart', task: 'server', all: false }],
  ['restart', { AllTasks: true }, { kind: 'restart', task: '', all: true }],
  ['signal', { Signal: 'SIGHUP' }, { kind: 'signal', task: '', signal: 'SIGHUP' }],
  ['signal', { Task: 'a', Signal: 'SIGUSR1' }, { kind: 'signal', task: 'a', signal: 'SIGUSR1' }],
])('%s with %j reaches the node', async (word, body, expected) => {
  const { status, json } = await ask(word, body);
  expect([status, json]).toEqual([200, {}]);
  expect(asked).toEqual([{ ...expected, alloc_id: id }]);
});

test.each([
  ['restart', { TaskName: 'a', AllTasks: true }, '/TaskName'],
  ['restart', { Task: 'a' }, '/Task'],
  ['signal', {}, '/Signal'],
  ['signal', { Signal: '9; rm' }, '/Signal'],
])('%s with %j is refused before the node is asked', async (word, body, pointer) => {
  const { status, json } = await ask(word, body);
  expect([status, json.errors[0].pointer, asked]).toEqual([400, pointer, []]);
});

describe("the node's refusal becomes the answer", () => {
  test.each([
    [{ status: 404, code: 'task-not-found' }, 404, 'task-not-found'],
    [{ status: 400, code: 'not-running' }, 400, 'not-running'],
    [{ status: 400, code: 'malformed-request' }, 400, 'malformed-request'],
    [{ status: 429, code: 'too-many-streams' }, 429, 'too-many-watches'],
    [{ status: 500, code: 'internal' }, 503, 'node-unreachable'],
  ])('%j', async (fault, status, code) => {
    answer = async () => {
      throw new StreamFault({ ...fault, message: 'It says so.' });
    };
    const { json } = await ask('restart');
    expect([json.status, json.code]).toEqual([status, code]);
    if (status < 500) expect(json.detail).toBe('It says so.');
  });
});

test('a silent node is not waited for without end', async () => {
  answer = () => new Promise(() => {});
  const waiting = ask('restart');
  await api.world.advance(limits.node.commandTimeoutMs);
  expect((await waiting).json.code).toBe('node-unreachable');
});

test('a terminal allocation is refused', async () => {
  await fleet.obey(() => 'complete');
  const { json } = await ask('restart');
  expect([json.status, json.code]).toEqual([400, 'not-running']);
});

test('an unknown allocation is a 404', async () => {
  expect((await ask('restart', {}, idOf(9))).json.code).toBe('allocation-not-found');
});

test('a disconnected node is reported', async () => {
  api.server.streams.drop(idOf(1), 'gone');
  expect((await ask('restart')).json.code).toBe('node-unreachable');
});

describe('stopping an allocation', () => {
  const read = async () => (await api.call('GET', `/v1/allocation/${id}`)).json;

  test('replaces it', async () => {
    await fleet.join(1);
    const { status, json } = await api.call('POST', `/v1/allocation/${id}/stop`);
    expect(status).toBe(200);
    await api.settle();
    expect((await api.call('GET', `/v1/evaluation/${json.EvalID}`)).json).toMatchObject({
      TriggeredBy: 'alloc-stop',
      Status: 'complete',
    });
    expect(await read()).toMatchObject({
      DesiredStatus: 'stop',
      DesiredTransition: { Migrate: true, ForceReschedule: null },
    });
  });

  test('counted as failed, places it on another node with a tracker', async () => {
    await fleet.join(1);
    await api.call('PUT', `/v1/allocation/${id}/stop?reschedule=true&no_shutdown_delay=true`);
    await api.settle();
    const stopped = await read();
    expect(stopped).toMatchObject({
      DesiredStatus: 'stop',
      DesiredTransition: {
        Migrate: null,
        Reschedule: true,
        ForceReschedule: true,
        NoShutdownDelay: true,
      },
    });
    const next = (await api.call('GET', `/v1/allocation/${stopped.NextAllocation}`)).json;
    expect(next).toMatchObject({ NodeID: idOf(2), PreviousAllocation: id });
    expect(next.RescheduleTracker.Events).toHaveLength(1);
  });

  test('may be accelerated while it is under way', async () => {
    await fleet.join(1);
    await api.call('PUT', `/v1/allocation/${id}/stop`);
    await api.settle();
    const before = await read();
    expect(before.DesiredTransition.NoShutdownDelay).toBeNull();
    await api.call('PUT', `/v1/allocation/${id}/stop?no_shutdown_delay=true`);
    const after = await read();
    expect(after).toMatchObject({
      DesiredStatus: 'stop',
      DesiredTransition: { Migrate: true, NoShutdownDelay: true },
    });
    expect(after.AllocModifyIndex).toBeGreaterThan(before.AllocModifyIndex);
  });

  test('changes nothing of a terminal allocation', async () => {
    await fleet.obey(() => 'complete');
    const before = await read();
    expect((await api.call('PUT', `/v1/allocation/${id}/stop`)).status).toBe(200);
    expect((await read()).DesiredTransition).toEqual(before.DesiredTransition);
  });
});
