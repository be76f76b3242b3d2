import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { socketPair } from '../../model/node-stream/socket-pair.test-helper.ts';
import { StreamConnection } from '../../model/node-stream/stream-connection.ts';
import type { Answered, Asked } from '../servers.ts';
import { type Answering, answerOver, askOver, requestKind } from './asking.ts';

const write: Asked = {
  method: 'PUT',
  path: '/v1/namespace/blue',
  query: '',
  headers: {},
  body: undefined,
};

/** A server that asks the leader, and a leader that answers so. */
function askedLeader(answer: Answering['answer']) {
  const { timers } = new SimulatedWorld(1);
  const [left, right] = socketPair();
  const asking = new StreamConnection({ socket: left, side: 'node' });
  const answering = new StreamConnection({ socket: right, side: 'server' });
  const bugs: unknown[] = [];
  answering.accept(requestKind, (stream, params) =>
    answerOver(stream, params, { answer, onError: (error) => bugs.push((error as Error).cause) }),
  );
  const ask = (question: Asked): Promise<Answered> =>
    askOver({ connection: asking, id: 'leader', timers }, question, { deadlineMs: 1000 });
  return { ask, answering, bugs };
}

const json = ({ body }: Answered) => JSON.parse(Buffer.from(body as Uint8Array).toString());

test('a bug that leaves the leader without an answer is a 500, and is reported there', async () => {
  const bug = new TypeError('broken');
  const { ask, bugs } = askedLeader(() => Promise.reject(bug));
  const answer = await ask(write);
  expect([answer.status, json(answer).code]).toEqual([500, 'internal-error']);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(JSON.stringify(json(answer))).not.toContain('broken');
  expect(bugs).toEqual([bug]);
});

test('the answer of the leader is passed on, whatever its status', async () => {
  const told = { status: 500, headers: { 'x-a': '1' }, body: '{"code":"internal-error"}' };
  const { ask, bugs } = askedLeader(async () => told);
  const answer = await ask(write);
  expect([answer.status, answer.headers, json(answer)]).toEqual([
    500,
    told.headers,
    JSON.parse(told.body),
  ]);
  expect(bugs).toEqual([]);
});

test('the outcome is unknown where the connection ends without an answer', async () => {
  const { ask, answering } = askedLeader(() => new Promise(() => {}));
  const asked = ask(write);
  setImmediate(() => answering.close(1001, 'gone'));
  await expect(asked).rejects.toMatchObject({ name: 'ServerGone', wasSent: true });
});

test('a request that the leader could not read has certainly not run', async () => {
  let ran = 0;
  const { ask } = askedLeader(async () => {
    ran++;
    return { status: 200, headers: {}, body: undefined };
  });
  const unreadable = { ...write, headers: null as unknown as Asked['headers'] };
  await expect(ask(unreadable)).rejects.toMatchObject({ name: 'ServerGone', wasSent: false });
  expect(ran).toBe(0);
});
