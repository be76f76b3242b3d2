import { beforeEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import { rootKeyBox } from '../../../base/secret-box.ts';
import { complete } from '../../../model/complete.ts';
import { JobSchema } from '../../../model/job/job.ts';
import { ofRegistration } from '../../../model/kept-plan/kept-plan.ts';
import { limits } from '../../../model/limits.ts';
import { FormUnfinished } from '../../../state/errors.ts';
import { memoryState } from '../../../state/state.test-helper.ts';
import { allTables, keptPlans } from '../../../state/tables.ts';
import type { State } from '../../../state/types.ts';
import { keepPlan, notePlanCarriedOut, openPlanned, plannedText, requirePlan } from './kept.ts';

let world: SimulatedWorld;
let state: State;
beforeEach(async () => {
  world = new SimulatedWorld(1);
  state = await memoryState(allTables, world);
});

const { keptMax, keptMs, keptBytesMax } = limits.plan;
const job = { Namespace: 'default', ID: 'web' };
const change = { Action: 'stop', Namespace: 'default', JobID: 'web', TaskGroup: 'web' } as const;
const place = { Name: 'web.web[0]', NodeID: 'n', NodeName: 'node', AllocID: 'a' };
const outline = {
  changes: [{ ...change, ...place, PreviousAllocation: '', Canary: false, Description: '' }],
  queued: { web: 1 },
  deployments: ['a new deployment begins'],
};

const keep = (ID: string, bytes = 1) =>
  state.write((transaction) => {
    const plan = { ...ofRegistration, ID, Namespace: 'default', JobID: 'web', MadeBy: 'maker' };
    const content = { Sealed: 'x'.repeat(bytes), Packed: true };
    keepPlan(transaction, { ...plan, ...content }, world.clock.nowMs());
  });

const wanted = (id: string, caller = 'maker', reads = false) => ({
  id,
  caller,
  mayRead: () => reads,
});

const find = (id: string, of = job, caller = 'maker', reads = false) =>
  requirePlan(state.read(), of, wanted(id, caller, reads), world.clock.nowMs());

const carryOut = (id: string, caller: string) =>
  state.write((transaction) => {
    const kept = requirePlan(transaction, job, wanted(id, caller), world.clock.nowMs());
    notePlanCarriedOut(transaction, kept, caller);
  });

test('a plan is carried out once, and its content is gone', async () => {
  await keep('a');
  const { index } = await carryOut('a', 'carrier');
  await expect(carryOut('a', 'carrier')).rejects.toThrow('has no plan "a" to carry out');
  expect([...state.read().table(keptPlans).scan()]).toMatchObject([
    { MadeBy: 'maker', CarriedOutBy: 'carrier', CarriedOutIndex: index, Sealed: '' },
  ]);
});

test.each<[string, boolean, boolean]>([
  ['maker', false, true],
  ['carrier', false, true],
  ['other', true, true],
  ['other', false, false],
])(
  '%s, who may read the job: %s, is told who carried a plan out: %s',
  async (caller, reads, isTold) => {
    await keep('a');
    const { index } = await carryOut('a', 'carrier');
    const sentence = `It was carried out by carrier at index ${index}.`;
    const refused = () => find('a', job, caller, reads);
    if (isTold) expect(refused).toThrow(sentence);
    else expect(refused).toThrow(/can be carried out once\.$/);
  },
);

test('a plan is kept for one job alone', async () => {
  await keep('a');
  expect(() => find('a', { ...job, ID: 'other' })).toThrow('has no plan');
  expect(() => find('a', { ...job, Namespace: 'other' })).toThrow('has no plan');
  expect(find('a').ID).toBe('a');
});

test('a plan is not found after its time', async () => {
  await keep('a');
  await world.advance(keptMs - 1);
  expect(find('a').ID).toBe('a');
  await world.advance(1);
  expect(() => find('a')).toThrow('has no plan');
});

test('the oldest plans are dropped when there are too many or they are too large together', async () => {
  const keepNext = (ID: string, bytes = 1) => {
    world.jumpWallClock(1);
    return keep(ID, bytes);
  };
  for (let number = 0; number < keptMax; number++) void keepNext(`p${number}`);
  await keepNext('last');
  expect(() => find('p0')).toThrow('has no plan');
  expect(find('p1').ID).toBe('p1');
  expect(state.read().table(keptPlans).size).toBe(keptMax);
  await keepNext('large', keptBytesMax - 1);
  expect(() => find(`p${keptMax - 1}`)).toThrow('has no plan');
  expect(find('last').ID).toBe('last');
  await keepNext('small', 2);
  expect([...state.read().table(keptPlans).scan()].map(({ ID }) => ID)).toEqual(['small']);
});

test('a plan is read as it was kept, also by a server of a version before 0.1.4', () => {
  const box = rootKeyBox(new Uint8Array(32), world.secrets);
  const planned = { job: complete(JobSchema, job), jobModifyIndex: 7, outline, ids: ['b'] };
  const row = { ...job, JobID: 'web', MadeBy: 'maker', CarriedOutBy: '', CarriedOutIndex: 0 };
  const kept = { ...row, ExpireMs: 1, CreateIndex: 1, ModifyIndex: 1 };
  const older = { ...kept, Sealed: box.seal(JSON.stringify(planned)) };
  const Sealed = box.seal(plannedText(planned));
  const now = { ...ofRegistration, ...kept, OutdatedIndex: 0, Sealed, Packed: true };
  const { upcast, downcast } = keptPlans;
  expect(openPlanned(box, upcast!(older, 1))).toEqual(planned);
  expect(openPlanned(box, now)).toEqual(planned);
  expect(downcast!(upcast!(older, 1), 1)).toEqual(older);
  expect(() => downcast!(now, 1)).toThrow(FormUnfinished);
  for (const version of [2, 3]) expect(upcast!(downcast!(now, version), version)).toEqual(now);
});

test('a server of a version before 0.3 gets no plan of another act', () => {
  const row = {
    ...ofRegistration,
    Kind: 'drain',
    Namespace: 'default',
    JobID: '',
    ID: 'a',
  } as const;
  const marks = { MadeBy: '', CarriedOutBy: '', CarriedOutIndex: 0, OutdatedIndex: 7, ExpireMs: 1 };
  const kept = { ...row, ...marks, Sealed: 'x', Packed: false, CreateIndex: 1, ModifyIndex: 1 };
  expect(() => keptPlans.downcast!(kept, 2)).toThrow(FormUnfinished);
  // The servers of 0.3.0 know these plans, and do not note that one is outdated.
  expect(keptPlans.downcast!(kept, 3)).not.toHaveProperty('OutdatedIndex');
  expect(keptPlans.downcast!(kept, 3)).toHaveProperty('Kind', 'drain');
});
