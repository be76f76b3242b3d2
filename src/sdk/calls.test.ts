import { expect, test } from 'vitest';
import type { jobEndpoints } from '../contract/job.ts';
import { callsOf } from './calls.ts';
import { createClient } from './client.ts';
import type { Requester } from './requester.ts';
import { indexed, serve } from './server.test-helper.ts';

const seen: unknown[][] = [];
const answer = { value: { EvalID: 'e1' }, index: 1 };
const noted = (...call: unknown[]) => {
  seen.push(call);
  return Promise.resolve(answer);
};
const requester = { read: noted, write: noted } as unknown as Requester;

test('calls are named by their endpoint, and a call that differs from the contract is a type error', async () => {
  const { read, write } = callsOf<typeof jobEndpoints>(requester);
  const { value } = await write(
    'DELETE /v1/job/:job_id+',
    { job_id: 'a/b' },
    {},
    {
      query: {
        purge: true,
      },
    },
  );
  const evaluation: string = value.EvalID;
  expect(evaluation).toBe('e1');
  // @ts-expect-error: the contract has no such field in the answer.
  expect(value.Evaluation).toBe(undefined);
  // @ts-expect-error: there is no such endpoint.
  await read('GET /v1/job/:job_id+/somewhere', { job_id: 'a' });
  // @ts-expect-error: the path has another parameter.
  await read('GET /v1/job/:job_id+', { id: 'a' });
  // @ts-expect-error: the query has no such parameter.
  await read('GET /v1/jobs', {}, {}, { metadata: true });
  // @ts-expect-error: the parameter is a flag.
  await read('GET /v1/jobs', {}, {}, { meta: 'yes' });
  // @ts-expect-error: the field of the body is a number.
  await write('PUT /v1/jobs', {}, {}, { body: { JobModifyIndex: '7' } });
  expect(seen[0]).toEqual([
    { method: 'DELETE', path: '/v1/job/a%2Fb' },
    {},
    undefined,
    { purge: true },
  ]);
  expect(seen.at(-1)).toEqual([
    { method: 'PUT', path: '/v1/jobs' },
    {},
    { JobModifyIndex: '7' },
    undefined,
  ]);
});

test('every endpoint can be called without a method of its own', async () => {
  await using server = await serve(() => indexed(7, [{ Name: 'dev' }]));
  const client = createClient({ address: server.address });
  const { value, index } = await client.calls.read('GET /v1/namespaces', {}, {}, { prefix: 'd' });
  const names: readonly string[] = value.map(({ Name }) => Name);
  expect([names, index]).toEqual([['dev'], 7]);
  // @ts-expect-error: there is no such endpoint.
  await client.calls.read('GET /v1/nowhere', {});
  await client.close();
  expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /v1/namespaces',
    'GET /v1/nowhere',
  ]);
});
