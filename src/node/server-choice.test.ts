import { beforeEach, describe, expect, test } from 'vitest';
import type { Transport, TransportAnswer, TransportRequest } from '../sdk/transport.ts';
import { failoverTransport } from './failover-transport.ts';
import { ServerChoice } from './server-choice.ts';

const addresses = ['http://a', 'http://b', 'http://c'];
let choice: ServerChoice;
/** The behaviour of each server; a server without an entry is unreachable. */
let answers: Record<string, number | 'silence'>;
let asked: string[];
/** Bodies that nobody has released. */
let open: number;
let transport: Transport;

beforeEach(() => {
  choice = new ServerChoice(addresses);
  answers = {};
  asked = [];
  open = 0;
  transport = failoverTransport(choice, (address) => ({
    send: (request) => answer(address, request),
    close: async () => void asked.push(`close ${address}`),
  }));
});

async function answer(address: string, { signal }: TransportRequest): Promise<TransportAnswer> {
  asked.push(address);
  const does = answers[address];
  if (does === undefined) throw new Error(`${address} is out of reach`);
  if (does === 'silence') {
    return new Promise((_, reject) =>
      signal!.addEventListener('abort', () => reject(signal!.reason)),
    );
  }
  open++;
  const body = (async function* () {
    try {
      yield Buffer.from(address);
    } finally {
      open--;
    }
  })();
  return { status: does, headers: {}, body };
}

const send = async (signal?: AbortSignal): Promise<string> => {
  const { status, body } = await transport.send({
    method: 'GET',
    path: '/',
    headers: {},
    body: undefined,
    signal,
    headTimeoutMs: 1,
    bodyTimeoutMs: 1,
  });
  for await (const bytes of body) return `${status} ${bytes}`;
  return `${status}`;
};

describe('a request', () => {
  test.each<[string, Record<string, number>, string, string[], string]>([
    ['goes to the first', { 'http://a': 200 }, '200 http://a', ['a'], 'a'],
    ['goes on from one out of reach', { 'http://b': 200 }, '200 http://b', ['a', 'b'], 'b'],
    ['goes on from a 503', { 'http://a': 503, 'http://b': 200 }, '200 http://b', ['a', 'b'], 'b'],
    ['goes on from a 500', { 'http://a': 500, 'http://c': 204 }, '204 http://c', [...'abc'], 'c'],
    ['takes a refusal for an answer', { 'http://a': 404 }, '404 http://a', ['a'], 'a'],
    ['takes the refusal of another', { 'http://b': 403 }, '403 http://b', ['a', 'b'], 'b'],
    [
      'gives what all answer alike, and moves nothing',
      { 'http://a': 500, 'http://b': 500, 'http://c': 502 },
      '502 http://c',
      [...'abc'],
      'a',
    ],
  ])('%s', async (_, does, expected, tried, current) => {
    answers = does;
    expect(await send()).toBe(expected);
    expect(asked).toEqual(tried.map((name) => `http://${name}`));
    expect(choice.current).toBe(`http://${current}`);
    expect(open).toBe(0);
  });

  test('rejects with the last error when no server is reachable', async () => {
    await expect(send()).rejects.toThrow('http://c is out of reach');
    expect([asked, choice.current]).toEqual([addresses, 'http://a']);
  });

  test('stays with the server that answered, and returns to the first after the others', async () => {
    answers = { 'http://c': 200 };
    await send();
    answers = { 'http://a': 200 };
    asked = [];
    expect(await send()).toBe('200 http://a');
    expect(asked).toEqual(['http://c', 'http://a']);
  });

  test('that was aborted is not sent to other servers', async () => {
    answers = { 'http://a': 'silence', 'http://b': 200 };
    const nobody = new AbortController();
    const sent = send(nobody.signal);
    nobody.abort(new Error('enough'));
    await expect(sent).rejects.toThrow('enough');
    expect(asked).toEqual(['http://a']);
  });
});

test('a caller waiting for a silent server asks the new one once others have noticed', async () => {
  answers = { 'http://a': 'silence', 'http://b': 200 };
  const waiting = send();
  const impatient = choice.call(async (address) => {
    if (address === 'http://a') throw new Error('too late');
    return address;
  }, undefined);
  expect(await impatient).toBe('http://b');
  expect(await waiting).toBe('200 http://b');
  expect(asked).toEqual(['http://a', 'http://b']);
});

test('a refusal by status is passed on, and moves nothing', async () => {
  const refused = Object.assign(new Error('no'), { status: 403 });
  const call = choice.call(() => Promise.reject(refused), undefined);
  await expect(call).rejects.toBe(refused);
  expect(choice.current).toBe('http://a');
});

test('closing closes the way to every server', async () => {
  await transport.close();
  expect(asked).toEqual(addresses.map((address) => `close ${address}`));
});
