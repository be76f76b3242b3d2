import { beforeEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { limits } from '../../model/limits.ts';
import type { IdentityAnswer, IdentityRequest } from '../../model/workload/identity-request.ts';
import { BatchedIdentitySource, type IdentitySource } from './identity-source.ts';
import { WorkloadToken } from './workload-token.ts';

let world: SimulatedWorld;
let stop: AbortController;
let sent: (readonly IdentityRequest[])[];
let answer: (requests: readonly IdentityRequest[]) => Promise<IdentityAnswer>;
let source: BatchedIdentitySource;
const errors: unknown[] = [];

const issued = (one: IdentityRequest) => ({
  ...one,
  Token: `token ${sent.length} of ${one.Task}`,
  TTL: 0,
  ExpirationTime: 0,
});
const all = async (requests: readonly IdentityRequest[]): Promise<IdentityAnswer> => ({
  Identities: requests.map(issued),
  Refused: [],
});
const failing = (status?: number) => async () => {
  throw Object.assign(new Error('no'), status === undefined ? {} : { status });
};

beforeEach(() => {
  world = new SimulatedWorld(3);
  stop = new AbortController();
  sent = [];
  errors.length = 0;
  answer = all;
  source = new BatchedIdentitySource({
    timers: world.timers,
    random: world.random,
    signal: stop.signal,
    send: (requests) => {
      sent.push(requests);
      return answer(requests);
    },
    onError: (error) => errors.push(error),
  });
});

const never = new AbortController().signal;
const request = (n: number): IdentityRequest => ({ AllocID: 'a', Task: `t${n}`, Name: 'default' });
const ask = (n: number, signal = never) => {
  const outcome = { token: '', error: '' };
  source.issue(request(n), signal).then(
    ({ Token }) => (outcome.token = Token),
    ({ name }) => (outcome.error = name),
  );
  return outcome;
};

test('requests at the same time go together, one batch at a time', async () => {
  const { batchMax, gatherMs } = limits.identity;
  const outcomes = Array.from({ length: batchMax + 1 }, (_, n) => ask(n));
  await world.advance(gatherMs);
  expect(sent.map(({ length }) => length)).toEqual([batchMax]);
  await world.advance(gatherMs);
  expect(sent.map(({ length }) => length)).toEqual([batchMax, 1]);
  expect(outcomes[0]!.token).toBe('token 1 of t0');
  expect(outcomes.at(-1)!.token).toBe(`token 2 of t${batchMax}`);
});

test('the servers are asked again until they answer', async () => {
  answer = failing();
  const outcome = ask(1);
  await world.advance(10_000);
  expect(outcome).toEqual({ token: '', error: '' });
  expect(sent.length).toBeGreaterThan(3);
  answer = all;
  await world.advance(limits.identity.retryMaxMs);
  expect(outcome.token).toContain('of t1');
  expect(errors).not.toEqual([]);
});

test('refused requests, and answers that make no sense, are not repeated', async () => {
  answer = async (requests) => ({
    Identities: requests.slice(1).map(issued),
    Refused: [{ ...requests[0]!, Reason: 'no such task' }],
  });
  const [refused, given] = [ask(1), ask(2)];
  await world.advance(100);
  expect([refused.error, given.token]).toEqual(['IdentityRefusal', 'token 1 of t2']);
  answer = failing(400);
  const wrong = ask(3);
  await world.advance(100_000);
  expect([wrong.error, sent.length]).toEqual(['IdentityRefusal', 2]);
});

test('a token that nobody waits for is not requested', async () => {
  answer = failing();
  const gone = new AbortController();
  const outcome = ask(1, gone.signal);
  await world.advance(1000);
  gone.abort();
  const count = sent.length;
  await world.advance(60_000);
  expect([outcome.error, sent.length]).toEqual(['Error', count]);
  const late = ask(2);
  stop.abort();
  await world.advance(60_000);
  expect([late.error, world.pendingTimers]).toEqual(['Error', 0]);
});

test('a task has one token until the servers refuse it', async () => {
  const token = new WorkloadToken(source, { allocation: 'a', task: 't1' }, world.clock);
  const current = async () => {
    const asked = token.current(never);
    await world.advance(100);
    return asked;
  };
  expect([await current(), await current()]).toEqual(['token 1 of t1', 'token 1 of t1']);
  token.refused();
  expect([await current(), await current()]).toEqual(['token 2 of t1', 'token 2 of t1']);
});

test('the node renews the token of a task after half of its life', async () => {
  let asked = 0;
  const hour = { TTL: 3_600e9, ExpirationTime: 0 };
  const issuer: IdentitySource = {
    issue: async (request) => ({ ...request, ...hour, Token: `token ${++asked}` }),
  };
  const token = new WorkloadToken(issuer, { allocation: 'a', task: 't1' }, world.clock);
  expect(await token.current(never)).toBe('token 1');
  await world.advance(29 * 60_000);
  expect(await token.current(never)).toBe('token 1');
  await world.advance(60_000);
  expect(await token.current(never)).toBe('token 2');
  expect(await token.current(never)).toBe('token 2');
});
