import { describe, expect, test } from 'vitest';
import { createClient } from './client.ts';
import { ConnectionError, EventStreamError } from './errors.ts';
import { limits } from './limits.ts';
import type { Transport } from './transport.ts';

/** A connection: its lines, and whether it then is cut, ends, or was never there. */
type Connection = readonly [end: 'cut' | 'ends' | 'refused', ...lines: object[]];

/** A client whose connections are given; the last of them repeats. Notes the paths that it asked. */
function clientOver(connections: readonly Connection[]) {
  const asked: string[] = [];
  const pausesMs: number[] = [];
  const broken = (code: string) => new ConnectionError('http://a', code, code);
  const transport: Transport = {
    repeats: { newKey: () => 'key', pause: async (ms) => void pausesMs.push(ms) },
    async send({ path }) {
      const [end, ...lines] = connections[asked.length] ?? connections.at(-1)!;
      asked.push(path);
      if (end === 'refused') throw broken('ECONNREFUSED');
      const body = (async function* () {
        for (const line of lines) yield Buffer.from(`${JSON.stringify(line)}\n`);
        if (end === 'cut') throw broken('UND_ERR_SOCKET');
      })();
      return { status: 200, headers: { 'x-scheduler-index': '5' }, body };
    },
    close: async () => {},
  };
  return { client: createClient({ address: 'http://a', transport }), asked, pausesMs };
}

const commit = (Index: number, ...names: string[]) => ({
  Index,
  Events: names.map((Key) => ({ Key })),
});
const ended = { Error: { Code: 'token-not-found', Message: 'The token is gone.' } };

async function eventsOf(connections: readonly Connection[], index?: number) {
  const { client, asked, pausesMs } = clientOver(connections);
  const keys: string[] = [];
  let error: unknown;
  try {
    for await (const frame of client.events.follow({ index })) {
      keys.push(...(frame.Events ?? []).map(({ Key }) => Key));
      if (frame.Missed) keys.push('missed');
    }
  } catch (thrown) {
    error = thrown;
  }
  return { keys: keys.join(' '), asked, pausesMs, error };
}

test.each<[string, Connection[], string, (string | undefined)[]]>([
  [
    'goes on after the last transaction',
    [
      ['cut', {}, commit(6, 'a'), commit(8, 'b')],
      ['ends', {}, commit(8, 'b'), commit(9, 'c'), ended],
    ],
    'a b c',
    [undefined, '8'],
  ],
  [
    'goes on within a large transaction',
    [
      ['cut', {}, commit(6, 'a', 'b'), commit(6, 'c')],
      ['cut', {}, commit(6, 'a', 'b')],
      ['ends', {}, commit(6, 'a', 'b'), commit(6, 'c', 'd'), commit(6, 'e'), ended],
    ],
    'a b c d e',
    [undefined, '6', '6'],
  ],
  [
    'without an event so far begins at its first index again',
    [['cut', {}], ['refused'], ['ends', {}, commit(6, 'a'), ended]],
    'a',
    [undefined, '6', '6'],
  ],
  [
    'goes on after an end of the server',
    [
      ['ends', {}, commit(6, 'a')],
      ['ends', {}, commit(6, 'a'), commit(7, 'b'), ended],
    ],
    'a b',
    [undefined, '6'],
  ],
  [
    'tells that the next server does not know what came between',
    [
      ['cut', commit(6, 'a')],
      ['ends', { Index: 9, Events: [], Missed: true }, commit(9, 'b'), ended],
    ],
    'a missed b',
    [undefined, '6'],
  ],
])('a stream of events %s', async (_, connections, expected, indexes) => {
  const { keys, asked, error } = await eventsOf(connections);
  expect([keys, error]).toEqual([expected, undefined]);
  expect(asked.map((path) => /index=(\d+)/.exec(path)?.[1])).toEqual(indexes);
});

test('a stream that never begins is told at once, and tries end', async () => {
  const { asked, error } = await eventsOf([['refused']]);
  expect([asked.length, error]).toEqual([1, expect.any(ConnectionError)]);
  const late = await eventsOf([['cut', {}], ['refused']]);
  expect(late.error).toMatchObject({ code: 'ECONNREFUSED' });
  expect(late.asked).toHaveLength(1 + limits.resumesMax);
  expect(late.pausesMs).toEqual(late.pausesMs.toSorted((left, right) => left - right));
});

const piece = (number: number, Offset: number, text: string) => ({
  File: `alloc/logs/t.stdout.${number}`,
  Offset,
  Data: Buffer.from(text).toString('base64'),
});

test.each<[string, Connection[], string]>([
  [
    'goes on within a piece',
    [
      ['cut', piece(0, 0, 'ab')],
      ['ends', piece(0, 0, 'abcd'), piece(0, 4, 'efg')],
    ],
    'ab cd efg',
  ],
  [
    'goes on in a later file',
    [
      ['cut', piece(8, 0, 'a'), piece(9, 0, 'b')],
      ['cut', {}, piece(8, 0, 'a'), piece(9, 0, 'b')],
      ['ends', piece(9, 0, 'bc'), piece(10, 0, 'd')],
    ],
    'a b c d',
  ],
  [
    'tells that the rest of a file was rotated away',
    [
      ['cut', piece(0, 0, 'a')],
      ['ends', piece(1, 0, 'c'), piece(2, 0, 'd')],
    ],
    'a [file deleted] c d',
  ],
])('a log %s', async (_, connections, expected) => {
  const { client } = clientOver(connections);
  const told: string[] = [];
  const log = client.logs.pieces({ allocation: 'x', task: 't', follow: true, origin: 'end' });
  for await (const { data, event } of log) {
    if (event !== undefined) told.push(`[${event}]`);
    told.push(Buffer.from(data).toString());
  }
  expect(told.join(' ')).toBe(expected);
});

test('a file goes on at the next byte', async () => {
  const { client, asked } = clientOver([
    ['cut', piece(0, 7, 'ab')],
    ['ends', piece(0, 9, 'c')],
  ]);
  const told: string[] = [];
  for await (const { data } of client.files.follow({ allocation: 'x', path: 'f', origin: 'end' })) {
    told.push(Buffer.from(data).toString());
  }
  expect(told).toEqual(['ab', 'c']);
  expect(asked[1]).toMatch(/origin=start&offset=9$/);
});

describe('the stream of single events', () => {
  const missed = { Index: 7, Events: [], Missed: true };
  const keysOf = async (connections: readonly Connection[], options: object = {}) => {
    const { client, asked } = clientOver(connections);
    const keys: string[] = [];
    let error: unknown;
    try {
      for await (const { Key } of client.events.stream({ topics: ['Job'], ...options })) {
        keys.push(Key);
      }
    } catch (thrown) {
      error = thrown;
    }
    return { keys: keys.join(' '), asked, error };
  };

  test('has each once over lost connections, and rejects with the reason of its end', async () => {
    const { keys, asked, error } = await keysOf([
      ['cut', {}, commit(6, 'a', 'b')],
      ['ends', {}, commit(6, 'a', 'b', 'c'), {}, commit(7, 'd'), ended],
    ]);
    expect(keys).toBe('a b c d');
    expect(asked).toEqual(['/v1/event/stream?topic=Job', '/v1/event/stream?topic=Job&index=6']);
    expect(error).toBeInstanceOf(EventStreamError);
    expect(error).toMatchObject({ code: 'token-not-found', message: 'The token is gone.' });
  });

  test('rejects where events are missed, unless somebody is told of it', async () => {
    const connections: Connection[] = [['ends', missed, commit(8, 'a'), ended]];
    const rejected = await keysOf(connections, { index: 3 });
    expect([rejected.keys, rejected.error]).toEqual([
      '',
      expect.objectContaining({ code: 'events-missed' }),
    ]);
    const told: number[] = [];
    const onMissed = (index: number) => told.push(index);
    const { keys } = await keysOf(connections, { index: 3, onMissed });
    expect([keys, told]).toEqual(['a', [7]]);
  });
});
