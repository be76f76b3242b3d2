import { expect, test } from 'vitest';
import { ApiError, ConnectionError } from './errors.ts';
import { limits } from './limits.ts';
import { untilKnown } from './repeat.ts';

const refused = (code: ApiError['code'], status = 503) =>
  new ApiError({ status, code, detail: code });
const lost = new ConnectionError('a', 'UND_ERR_SOCKET', 'lost');
const refusedConnection = new ConnectionError('a', 'ECONNREFUSED', 'nothing listens');
const done = 'done';

/** Sends until it is known; the outcomes of the attempts are given. */
async function run(...outcomes: unknown[]) {
  const keys: string[] = [];
  const pausesMs: number[] = [];
  const repeats = { newKey: () => 'key', pause: async (ms: number) => void pausesMs.push(ms) };
  const result = await untilKnown(repeats, undefined, async (key) => {
    keys.push(key);
    const outcome = outcomes[keys.length - 1] ?? outcomes.at(-1);
    if (outcome === done) return outcome;
    throw outcome;
  }).catch((error: unknown) => error);
  return { result, keys, pausesMs };
}

test.each([
  ['is done at once', [done], done, 1],
  ['has no leader first', [refused('no-leader'), refused('not-leader'), done], done, 3],
  ['has an unknown outcome first', [refused('outcome-unknown'), done], done, 2],
  ['loses its connection first', [lost, done], done, 2],
])('a write that %s is sent under one key', async (_name, outcomes, wanted, count) => {
  const { result, keys } = await run(...outcomes);
  expect(result).toBe(wanted);
  expect(keys).toEqual(Array.from({ length: count }, () => 'key'));
});

test('a refusal, and a server that does not listen, are told at once', async () => {
  const denied = refused('permission-denied', 403);
  expect(await run(denied)).toMatchObject({ result: denied, keys: ['key'] });
  expect(await run(refusedConnection)).toMatchObject({ result: refusedConnection, keys: ['key'] });
});

test('attempts end, with pauses that grow', async () => {
  const none = refused('no-leader');
  const { result, pausesMs } = await run(none);
  expect(result).toBe(none);
  expect(pausesMs).toHaveLength(limits.repeatsMax);
  expect(pausesMs).toEqual(pausesMs.toSorted((left, right) => left - right));
});

test.each([
  ['no leader', refused('no-leader')],
  ['nothing that listens', refusedConnection],
])('an unknown outcome is told, although the last attempt met %s', async (_name, last) => {
  const unknown = refused('outcome-unknown');
  expect((await run(unknown, last)).result).toBe(unknown);
});

test('a refusal after an unknown outcome is the outcome', async () => {
  const denied = refused('permission-denied', 403);
  expect((await run(lost, denied)).result).toBe(denied);
});

test('a caller who has left waits for nothing', async () => {
  const repeats = { newKey: () => 'key', pause: () => Promise.reject(new Error('no pause')) };
  const none = refused('no-leader');
  const sent = untilKnown(repeats, AbortSignal.abort(), () => Promise.reject(none));
  await expect(sent).rejects.toBe(none);
});
