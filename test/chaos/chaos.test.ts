import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import { etcdServer } from '../support/etcd.ts';
import { choicesOf } from '../support/random.ts';
import { type Caller, outcomeOf } from './caller.ts';
import { chaos, waitsForLog } from './chaos.ts';
import { faultKinds } from './faults.ts';
import { listFaults } from './jobs.ts';
import { Once } from './once.ts';
import { differences } from './rest.ts';
import { shuffled } from './schedule.ts';

test.each([
  [200, undefined, 'done', 'done'],
  [404, undefined, 'refused', 'refused'],
  [409, 'cas-mismatch', 'refused', 'refused'],
  [429, undefined, 'wrong', 'wrong'],
  [500, 'internal-error', 'wrong', 'wrong'],
  [503, 'no-leader', 'refused', 'refused'],
  [503, 'not-leader', 'refused', 'refused'],
  [503, 'outcome-unknown', 'unknown', 'wrong'],
  [503, 'not-ready', 'wrong', 'wrong'],
  [502, undefined, 'wrong', 'wrong'],
] as const)('the outcome of %s %s: %s, of a read %s', (status, code, write, read) => {
  const reply = { status, json: { code } };
  expect([outcomeOf(reply, true), outcomeOf(reply, false)]).toEqual([write, read]);
});

const detail = 'This server answers nothing: the log cannot be read from etcd at 127.0.0.1:1';

test.each([
  ['that starts', false, { code: 'not-ready', detail }, true],
  ['that was ready', true, { code: 'not-ready', detail }, false],
  ['that starts without its root key', false, { code: 'not-ready', detail: 'no key' }, false],
  ['that starts and has failed', false, { code: 'internal-error', detail }, false],
])('a server %s waits for the log', (_, isReady, json, expected) => {
  expect(waitsForLog({ status: 503, json }, { isReady })).toBe(expected);
});

const version = (Version: number, JobModifyIndex: number) => ({ Version, JobModifyIndex });

test.each([
  ['nothing', [], [], 0],
  ['all in order', [version(2, 30), version(1, 20)], [20, 30], 0],
  ['a version that is listed no more', [version(2, 30), version(1, 20)], [10], 0],
  ['a lost version', [version(2, 30), version(1, 10)], [20], 1],
  ['a lost newest version', [version(1, 10)], [20], 1],
  ['a gap', [version(3, 30), version(1, 10)], [], 1],
  ['an index out of order', [version(2, 10), version(1, 20)], [], 1],
] as const)('a list of versions with %s', (_, versions, acknowledged, faults) => {
  expect(listFaults(versions, acknowledged)).toHaveLength(faults);
});

test('a variable that is written once is there or not, as was answered', async () => {
  const replies = [
    { status: 200, index: 5, json: { ModifyIndex: 5 } },
    { status: 503, index: 5, json: { code: 'no-leader' } },
    { status: 503, index: 5, json: { code: 'outcome-unknown' } },
    undefined,
  ];
  const once = new Once(async () => replies.shift());
  for (let turn = 0; turn < 4; turn++) await once.turn();
  const row = (serial: number, ModifyIndex: number) => ({ Path: `once/${serial}`, ModifyIndex });
  expect(once.faults([row(1, 5), row(3, 6), row(4, 7)])).toEqual([]);
  expect(once.faults([row(1, 5)])).toEqual([]);
  expect(once.faults([row(1, 4), row(2, 6)])).toEqual([
    'once/1 was written at 5, and has 4',
    'the write of once/2 was refused, and is there',
  ]);
  expect(once.faults([])).toEqual(['the acknowledged write of once/1 at 5 is lost']);
});

test('servers with different states are told apart', async () => {
  const states = ['same', 'same', 'same'];
  const caller = {
    ask: async (server: number) => ({ status: 200, index: 7, json: [states[server]] }),
  } as unknown as Caller;
  expect(await differences(caller)).toEqual([]);
  states[2] = 'other';
  expect((await differences(caller))[0]).toMatch('/v1/jobs of servers 0 and 2: [7,["same"]]');
});

test('a shuffled list has every item once, and depends on the seed', () => {
  const items = Object.keys(faultKinds);
  const [one, two] = [1, 2].map((seed) => shuffled(items, choicesOf(seed)));
  expect(one).not.toEqual(two);
  expect(one!.toSorted()).toEqual(items.toSorted());
});

/** Starts and ends take long on a slow machine, which is no violation. */
const timeout = 1_800_000;

test('two minutes of faults', { ...needing(etcdServer), timeout }, async () => {
  const draw = createHash('sha256')
    .update(process.env.TESTS_DRAW ?? 'all')
    .digest();
  const seed = draw.readUInt32BE();
  const told: string[] = [];
  const report = await chaos({ minutes: 2, seed, progress: (text) => told.push(text) });
  expect(report.violations, [`seed ${seed}`, ...told].join('\n')).toEqual([]);
  expect(report.written).toBeGreaterThan(0);
});
