/** `GET /v1/event/stream` with `filter` and `newest`. Source: docs/guides/events.md#the-newest-events. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { PushedBody } from '../../src/api/http.ts';
import type { EventFrame } from '../../src/model/event/event.ts';
import { limits } from '../../src/model/limits.ts';
import { jobBody, rootToken, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const stream = '/v1/event/stream';
const { newestPauseMs } = limits.events;

async function write(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const { status } = await api.call('PUT', `/v1/var/${path}`, { body: { Items: { a: 'b' } } });
    expect(status).toBe(200);
  }
}
const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, number) => `${name}/${number}`);

/** A reader who takes nothing until `drain`. */
async function slowReader(query: string) {
  const lines: EventFrame[] = [];
  let [isFull, drained] = [true, () => {}];
  const headers = { 'x-registry-token': rootToken };
  const asked = { method: 'GET', path: stream, query, headers, body: undefined };
  const { body } = await api.api.handle(asked);
  (body as PushedBody).writeTo({
    write: (bytes) => {
      const texts = Buffer.from(bytes).toString().trimEnd().split('\n');
      lines.push(...texts.map((text) => JSON.parse(text) as EventFrame));
      return !isFull;
    },
    end: () => {},
    on: (_, run) => {
      drained = run;
    },
  });
  const drain = () => {
    isFull = false;
    drained();
  };
  return { lines, drain };
}

const keysOf = ({ Events = [] }: EventFrame) => Events.map(({ Key }) => Key);
const countOf = ({ Events = [], Skipped = {} }: EventFrame) =>
  Object.values(Skipped).reduce((sum, count) => sum + count, Events.length);

describe('a filter', () => {
  test.each([
    ['Key matches `^b`', ['b']],
    ['Payload.Variable.Path == c', ['c']],
    ['"/Payl\\x6fad/Variable/Path" == c', ['c']],
    ['Type != VariableUpdated', []],
  ])('of "%s" leaves out the other events', async (filter, keys) => {
    const path = `${stream}?topic=Variable&filter=${encodeURIComponent(filter)}`;
    const { lines } = await api.follow(`${path}&without_records=true`);
    await write('a', 'b', 'c');
    await api.settle();
    expect(lines.flatMap(keysOf)).toEqual(keys);
  });

  test('that is wrong is refused before the stream begins', async () => {
    const answer = await api.call('GET', `${stream}?filter=Kye==1`);
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid-filter']);
  });
});

describe('the newest events', () => {
  test('begin with the position, and come with their records while they are few', async () => {
    const { lines } = await api.follow(`${stream}?topic=Variable&newest=3`);
    await api.settle();
    expect(lines).toEqual([{ Index: expect.any(Number), Events: [], Skipped: {} }]);
    await api.world.advance(newestPauseMs);
    await write('a', 'b');
    await api.world.advance(newestPauseMs);
    const events = lines.flatMap(({ Events }) => Events);
    expect(events.map(({ Payload }) => Payload.Variable.Path)).toEqual(['a', 'b']);
    expect(lines.map(({ Skipped }) => Skipped)).toEqual(lines.map(() => ({})));
  });

  test('of a slow reader are told at the end, and all others counted by topic, though the server forgot them', async () => {
    const { lines, drain } = await slowReader('newest=3&topic=Variable&topic=Job&topic=Evaluation');
    const count = limits.events.changesKept + 100;
    await api.call('POST', '/v1/jobs', { body: jobBody() });
    await api.settle();
    // Each of them changes one record, and a reader that were left out would have missed the first ones.
    for (let at = 0; at < count; at += 100) {
      await Promise.all(numbered(`many-${at}`, 100).map((path) => write(path)));
    }
    await write('last');
    expect(lines).toHaveLength(1);
    await api.world.advance(newestPauseMs);
    drain();
    expect(lines).toHaveLength(2);
    const [, line] = lines;
    expect(keysOf(line!).at(-1)).toBe('last');
    expect(line!.Events).toHaveLength(3);
    expect(line!.Events!.every(({ Payload }) => Object.keys(Payload).length === 0)).toBe(true);
    expect(line!.Skipped).toEqual({ Job: 2, Evaluation: 3, Variable: count - 2 });
  });

  test('and the newest that match a filter are told, and the other matches counted', async () => {
    const filter = encodeURIComponent('Key matches `^few`');
    const { lines, drain } = await slowReader(`newest=2&topic=Variable&filter=${filter}`);
    await write(...numbered('few', 5), ...numbered('many', 5));
    await api.world.advance(newestPauseMs);
    drain();
    const { Events = [], ...rest } = lines[1]!;
    expect(Events.map(({ Key, Matches }) => [Key, Matches])).toEqual([
      ['few/3', undefined],
      ['few/4', undefined],
      ['many/3', false],
      ['many/4', false],
    ]);
    expect(rest).toMatchObject({ Skipped: { Variable: 6 }, SkippedMatches: 3 });
  });

  test('go on after the index of the last line, with no event twice or left out', async () => {
    const path = `${stream}?topic=Variable&newest=2`;
    const first = await api.follow(path);
    await write(...numbered('a', 3));
    await api.world.advance(newestPauseMs);
    first.stop();
    const seen = first.lines as EventFrame[];
    await write(...numbered('b', 4));
    const second = await api.follow(`${path}&index=${seen.at(-1)!.Index! + 1}`);
    await api.world.advance(newestPauseMs);
    const lines = [...seen, ...(second.lines as EventFrame[])];
    expect(lines.reduce((sum, line) => sum + countOf(line), 0)).toBe(7);
    expect(lines.flatMap(keysOf).at(-1)).toBe('b/3');
  });
});
