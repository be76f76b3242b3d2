import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { keptAnswers } from '../../src/state/tables.ts';
import { type Called, jobBody, startApi, type TestApi } from '../support/api.ts';

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

const create = ({ call }: TestApi, key: string, Description = 'made once') =>
  call('PUT', '/v1/acl/token', { body: { Description }, ...keyed(key) });

const answerOf = ({ status, headers, text }: Called) => ({
  status,
  text,
  index: headers['x-registry-index'],
});

const tokensOf = async ({ call }: TestApi) => (await call('GET', '/v1/acl/tokens')).json;

test('a repeated write has one effect, and the same answer, secrets included', async () => {
  const api = await startApi();
  const before = await tokensOf(api);
  const first = await create(api, 'k1');
  const again = await create(api, 'k1');
  expect(first.status).toBe(200);
  expect(first.json.SecretID).toMatch(/-/);
  expect(answerOf(again)).toEqual(answerOf(first));
  expect(await tokensOf(api)).toHaveLength(before.length + 1);
  // Another key is another request.
  expect((await create(api, 'k2')).json.AccessorID).not.toBe(first.json.AccessorID);
});

test('a kept answer shows no secret', async () => {
  const api = await startApi();
  const { json } = await create(api, 'k1');
  const rows = [...api.state.read().table(keptAnswers).scan()];
  expect(rows).toMatchObject([{ Key: 'k1', Route: 'PUT /v1/acl/token', Status: 200 }]);
  expect(JSON.stringify(rows)).not.toContain(json.SecretID);
  expect(JSON.stringify(rows)).not.toContain('made once');
  expect((await api.call('PUT', '/v1/operator/keyring/rotate')).status).toBe(200);
  expect(answerOf(await create(api, 'k1')).text).toContain(json.SecretID);
});

test('requests at the same time are one request', async () => {
  const api = await startApi();
  const before = await tokensOf(api);
  const answers = await Promise.all([1, 2, 3].map(() => create(api, 'k1')));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(await tokensOf(api)).toHaveLength(before.length + 1);
});

test('a key stands for one content, one route and one caller', async () => {
  const api = await startApi();
  const { json: token } = await create(api, 'k1');
  const other = await create(api, 'k1', 'something else');
  expect([other.status, other.json.code]).toEqual([409, 'idempotency-key-reused']);
  const Name = 'blue';
  const namespace = await api.call('PUT', `/v1/namespace/${Name}`, {
    body: { Name },
    ...keyed('k1'),
  });
  expect(namespace.status).toBe(200);
  const stranger = { body: { Description: 'made once' }, ...keyed('k1'), token: token.SecretID };
  expect((await api.call('PUT', '/v1/acl/token', stranger)).status).toBe(403);
});

test('a write whose rows are gone by its own effect is answered as before', async () => {
  const api = await startApi();
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  const remove = (key: string) => api.call('DELETE', '/v1/job/web?purge=true', keyed(key));
  const first = await remove('k1');
  expect([first.status, answerOf(await remove('k1'))]).toEqual([200, answerOf(first)]);
  expect((await remove('k2')).status).toBe(404);
});

test('a refused write is not kept, and is tried again', async () => {
  const api = await startApi();
  const write = () =>
    api.call('PUT', '/v1/var/app?namespace=blue', {
      body: { Path: 'app', Items: { word: 'secret' } },
      ...keyed('k1'),
    });
  expect((await write()).status).toBe(404);
  await api.call('PUT', '/v1/namespace/blue', { body: { Name: 'blue' } });
  expect((await write()).status).toBe(200);
});

test('a write that changes nothing keeps nothing, and moves no index', async () => {
  const api = await startApi();
  const { index } = api.state.read();
  const gone = await api.call('DELETE', '/v1/namespace/gone', keyed('k1'));
  expect(gone.status).toBe(200);
  expect(api.state.read().index).toBe(index);
  expect(api.state.read().table(keptAnswers).size).toBe(0);
});

test.each([
  ['an empty key', ''],
  ['a key with a space', 'a b'],
  ['a long key', 'x'.repeat(limits.idempotency.keyLengthMax + 1)],
  ['a key with a letter beyond ASCII', 'ü'],
])('%s is refused', async (_name, key) => {
  const api = await startApi();
  const refused = await create(api, key);
  expect([refused.status, refused.json.code]).toEqual([400, 'malformed-request']);
});

test('reads take no notice of a key', async () => {
  const api = await startApi();
  const read = () => api.call('GET', '/v1/acl/tokens', keyed('k1'));
  expect((await read()).status).toBe(200);
  await create(api, 'k2');
  expect((await read()).json).toHaveLength(3);
});

test('an answer is kept for a time, and the oldest goes first when there are too many', async () => {
  const api = await startApi();
  const { json } = await create(api, 'k1');
  await api.world.advance(limits.idempotency.keptMs - 1);
  expect((await create(api, 'k1')).json.AccessorID).toBe(json.AccessorID);
  await api.world.advance(1);
  expect((await create(api, 'k1')).json.AccessorID).not.toBe(json.AccessorID);
  for (let round = 0; round < 3; round++) await create(api, `k1-${round}`);
  await api.world.advance(limits.idempotency.keptMs);
  await create(api, 'last');
  expect([...api.state.read().table(keptAnswers).scan()].map(({ Key }) => Key)).toEqual(['last']);
});

test('an answer that is too long is not kept, and the write is not repeated', async () => {
  const api = await startApi();
  const body = { Path: 'large', Items: { word: '"'.repeat(40_000) } };
  const write = () => api.call('PUT', '/v1/var/large', { body, ...keyed('k1') });
  const first = await write();
  expect(first.text.length).toBeGreaterThan(limits.idempotency.bodyBytesMax);
  const again = await write();
  expect([again.status, again.json.code]).toEqual([409, 'answer-not-kept']);
  expect((await api.call('GET', '/v1/var/large')).json.ModifyIndex).toBe(first.json.ModifyIndex);
});

test('the audit log tells a repetition from a write', async () => {
  const lines: string[] = [];
  const sink = { write: (line: string) => void lines.push(line) };
  const api = await startApi({ audit: { sink, events: 'writes' } });
  await create(api, 'k1');
  await create(api, 'k1');
  const entries = lines
    .map((line) => JSON.parse(line))
    .filter(({ path }) => path === '/v1/acl/token');
  expect(entries.map(({ repeat }) => repeat)).toEqual([undefined, true]);
});

/** A write to repeat: of three kinds, each with a visible effect. */
const writes = [
  (api: TestApi, at: number) => create(api, `token-${at}`, `t${at}`),
  (api: TestApi, at: number) =>
    api.call('POST', '/v1/jobs', { body: jobBody({ ID: `job-${at}` }), ...keyed(`job-${at}`) }),
  (api: TestApi, at: number) =>
    api.call('PUT', `/v1/var/v${at}`, {
      body: { Path: `v${at}`, Items: { word: 'x' } },
      ...keyed(`var-${at}`),
    }),
];

test('any interleaving of repetitions gives each request one effect and one answer', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          at: fc.nat(2),
          kind: fc.nat(writes.length - 1),
          waits: fc.boolean(),
          passesMs: fc.nat(1000),
        }),
        { minLength: 4, maxLength: 24 },
      ),
      async (steps) => {
        const api = await startApi();
        const tokens = (await tokensOf(api)).length;
        const answers = new Map<string, Promise<Called>[]>();
        for (const { at, kind, waits, passesMs } of steps) {
          const answer = writes[kind]!(api, at);
          const name = `${kind}-${at}`;
          answers.set(name, [...(answers.get(name) ?? []), answer]);
          if (!waits) continue;
          await answer;
          await api.world.advance(passesMs);
        }
        for (const sent of answers.values()) {
          const seen = (await Promise.all(sent)).map((one) => JSON.stringify(answerOf(one)));
          expect(new Set(seen).size).toBe(1);
        }
        const ofKind = (kind: number) =>
          [...answers.keys()].filter((name) => name.startsWith(`${kind}-`));
        expect((await tokensOf(api)).length - tokens).toBe(ofKind(0).length);
        for (const name of ofKind(1)) {
          const { json } = await api.call('GET', `/v1/job/job-${name.slice(2)}/versions`);
          expect(json.Versions ?? json).toHaveLength(1);
        }
      },
    ),
    { numRuns: 25 },
  );
});
