import { beforeEach, expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Evaluation } from '../../src/model/evaluation/evaluation.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { type Fate, Fleet, idOf } from '../support/fleet.ts';
import { testsFollower } from '../support/follower.ts';

// An allocation that waits for its time has an evaluation for it. That evaluation may end without
// effect: the clock jumps back while there is no room, or it is deleted by hand.

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
  await fleet.join(2);
});

const minuteMs = 60_000;

const run = async (group: object): Promise<void> => {
  await api.call('POST', '/v1/jobs', { body: jobBody({}, group) });
  await api.settle();
  await fleet.pass(2_000);
};
const allocationsOf = async (): Promise<Allocation[]> =>
  (await api.call('GET', '/v1/job/web/allocations')).json;
const first = async (): Promise<Allocation> =>
  (await allocationsOf()).find(({ PreviousAllocation }) => PreviousAllocation === '')!;
const evaluation = async (id: string): Promise<Evaluation> =>
  (await api.call('GET', `/v1/evaluation/${id}`)).json;
const numberOf = ({ NodeID }: Allocation): number => (NodeID === idOf(1) ? 1 : 2);

/** Sets the eligibility of all nodes but the allocation's. */
async function setRoom(allocation: Allocation, Eligibility: 'eligible' | 'ineligible') {
  const id = idOf(3 - numberOf(allocation));
  await api.call('POST', `/v1/node/${id}/eligibility`, { body: { Eligibility } });
  await api.settle();
}

/** Time passes without room, the clock jumps back, and there is room again. */
async function loseTheMoment(one: Allocation, waitMs: number): Promise<void> {
  const reminder = (await first()).FollowupEvalID;
  await fleet.pass(waitMs);
  expect((await evaluation(reminder)).Status).toBe('complete');
  api.world.jumpWallClock(-5 * minuteMs);
  await setRoom(one, 'eligible');
  // The time of a log that servers share does not go back with a clock, so the moment may not be lost.
  if (!testsFollower || !(await isReplaced(one))) {
    const next = (await first()).FollowupEvalID;
    expect(next).not.toBe(reminder);
    expect((await evaluation(next)).Status).toBe('pending');
  }
  await fleet.pass(6 * minuteMs);
}

const isReplaced = async (one: Allocation): Promise<boolean> =>
  (await allocationsOf()).some(({ PreviousAllocation }) => PreviousAllocation === one.ID);

const hasSuccessor = async (one: Allocation): Promise<boolean> =>
  (await allocationsOf()).some(
    ({ PreviousAllocation, ClientStatus }) =>
      PreviousAllocation === one.ID && ClientStatus === 'running',
  );

const failsFirst: Fate = ({ PreviousAllocation }) =>
  PreviousAllocation === '' ? 'failed' : 'running';

test('a failed allocation is retried after a jump of the clock', async () => {
  const ReschedulePolicy = { Delay: 30e9, DelayFunction: 'constant', Unlimited: true };
  await run({ ReschedulePolicy, Constraints: [{ Operand: 'distinct_hosts' }] });
  const one = await first();
  await setRoom(one, 'ineligible');
  const node = `/v1/node/${one.NodeID}/eligibility`;
  await api.call('POST', node, { body: { Eligibility: 'ineligible' } });
  await fleet.obey(failsFirst);
  await api.settle();
  await loseTheMoment(one, 40_000);
  expect(await hasSuccessor(one)).toBe(true);
});

test('a lost allocation that its node may still run is replaced after a jump of the clock', async () => {
  await run({ Disconnect: { StopOnClientAfter: 120e9 } });
  const one = await first();
  await setRoom(one, 'ineligible');
  fleet.cut(numberOf(one));
  await fleet.pass(minuteMs);
  expect((await first()).ClientStatus).toBe('lost');
  await loseTheMoment(one, 2 * minuteMs);
  expect(await hasSuccessor(one)).toBe(true);
});

test('a disconnected allocation is lost in time, although its evaluation was deleted', async () => {
  await run({ Disconnect: { LostAfter: 300e9, Replace: false } });
  const one = await first();
  fleet.cut(numberOf(one));
  await fleet.pass(minuteMs);
  const { ClientStatus, FollowupEvalID } = await first();
  expect(ClientStatus).toBe('unknown');
  await api.call('DELETE', '/v1/evaluations', { body: { EvalIDs: [FollowupEvalID] } });
  await api.call('PUT', '/v1/job/web/evaluate');
  await api.settle();
  const next = (await first()).FollowupEvalID;
  expect((await evaluation(next)).TriggeredBy).toBe('max-disconnect-timeout');
  await fleet.pass(5 * minuteMs);
  expect((await first()).ClientStatus).toBe('lost');
  expect(await hasSuccessor(one)).toBe(true);
});
