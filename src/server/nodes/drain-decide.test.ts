import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Allocation,
  AllocationSchema,
  noTransition,
} from '../../model/allocation/allocation.ts';
import { complete } from '../../model/complete.ts';
import { canonicalizeJob } from '../../model/job/canonicalize.ts';
import type { Job } from '../../model/job/job.ts';
import type { DrainStrategy } from '../../model/node/drain.ts';
import { Budgets, type DrainDecision, decideDrain } from './drain-decide.ts';

const nowMs = Date.UTC(2026, 0, 1);
const patient: DrainStrategy = {
  Deadline: 0,
  IgnoreSystemJobs: false,
  MarkEligible: false,
  ForceDeadline: null,
  StartedAt: null,
};
const inMs = (ms: number): DrainStrategy => ({
  ...patient,
  ForceDeadline: new Date(nowMs + ms).toISOString(),
});

const makeJob = (Type: Job['Type'], Count = 3, MaxParallel = 1): Job => ({
  ...canonicalizeJob({
    ID: Type,
    Type,
    TaskGroups: [
      {
        Name: 'web',
        Count,
        Tasks: [{ Name: 'server', Driver: 'mock' }],
        ...(Type === 'service' && { Migrate: { MaxParallel } }),
      },
    ],
  }),
  CreateIndex: 7,
});

let made = 0;
const make = (job: Job, fields: Partial<Allocation> = {}): Allocation => ({
  ...complete(AllocationSchema, {
    ID: `allocation-${made++}`,
    Namespace: 'default',
    JobID: job.ID,
    JobCreateIndex: 7,
    TaskGroup: 'web',
    NodeID: 'drained',
    ClientStatus: 'running',
  }),
  ...fields,
});
const marked = { DesiredTransition: { ...noTransition, Migrate: true } };
const healthy = (Healthy: boolean | null) => ({
  DeploymentStatus: { Healthy, Timestamp: null, Canary: false, ModifyIndex: 0 },
});
const elsewhere = { NodeID: 'elsewhere' } as const;

function decide(
  jobs: readonly Job[],
  all: readonly Allocation[],
  strategy: DrainStrategy = patient,
): DrainDecision {
  const jobOf = ({ JobID }: Allocation) => jobs.find(({ ID }) => ID === JobID);
  const budgets = new Budgets({
    jobOf,
    allocationsOf: ({ ID }) => all.filter(({ JobID }) => JobID === ID),
    isDraining: (nodeId) => nodeId === 'drained' || nodeId === 'due',
    isTimeUp: (nodeId) => nodeId === 'due',
  });
  const occupants = all.filter(
    ({ NodeID, ClientStatus }) =>
      NodeID === 'drained' && !['complete', 'failed', 'lost'].includes(ClientStatus),
  );
  return decideDrain({ strategy, occupants, jobOf, budgets, nowMs });
}

const service = makeJob('service');
const two = () => [make(service), make(service)];

describe('a group of three, one of which may be away', () => {
  test.each<[string, Allocation[], number]>([
    ['all there', [...two(), make(service, elsewhere)], 1],
    ['one marked already', [make(service, marked), ...two()], 0],
    [
      'one stopped, nothing in its place',
      [make(service, { ...marked, DesiredStatus: 'stop' }), ...two()],
      0,
    ],
    ['one missing', two(), 0],
    ['one starting', [...two(), make(service, { ...elsewhere, ClientStatus: 'pending' })], 0],
    ['one lost', [...two(), make(service, { ...elsewhere, ClientStatus: 'lost' })], 0],
    ['one unknown', [...two(), make(service, { ...elsewhere, ClientStatus: 'unknown' })], 0],
    ['one unhealthy', [...two(), make(service, { ...elsewhere, ...healthy(false) })], 0],
    ['one healthy', [...two(), make(service, { ...elsewhere, ...healthy(true) })], 1],
    [
      'one of a deployment whose health nobody knows',
      [...two(), make(service, { ...elsewhere, DeploymentID: 'd' })],
      0,
    ],
    [
      'one that failed and is to be tried again',
      [...two(), make(service, { ClientStatus: 'failed', FollowupEvalID: 'e' })],
      0,
    ],
    ['one on a node whose time is up', [...two(), make(service, { NodeID: 'due' })], 0],
    [
      'one that starts on a node whose time is up',
      [...two(), make(service, { NodeID: 'due', ClientStatus: 'pending' })],
      0,
    ],
    ['one that failed for good', [...two(), make(service, { ClientStatus: 'failed' })], 1],
    [
      'one of an earlier registration',
      [...two(), make(service, { ...elsewhere, JobCreateIndex: 3 })],
      0,
    ],
  ])('%s', (_title, all, moves) => {
    expect(decide([service], all).migrate).toHaveLength(moves);
  });

  test('an allocation that is no longer to be tried again holds up nothing', () => {
    const TaskGroups = service.TaskGroups.map((group) => ({ ...group, ReschedulePolicy: null }));
    const all = [...two(), make(service, { ClientStatus: 'failed', FollowupEvalID: 'e' })];
    expect(decide([{ ...service, TaskGroups }], all).migrate).toHaveLength(1);
  });

  test('a replacement counts only once it is healthy', () => {
    const left = make(service, { ...marked, DesiredStatus: 'stop', ClientStatus: 'complete' });
    const next = (status: object) =>
      make(service, { ...elsewhere, PreviousAllocation: left.ID, ...status });
    expect(decide([service], [left, ...two(), next({})]).migrate).toHaveLength(0);
    expect(decide([service], [left, ...two(), next(healthy(true))]).migrate).toHaveLength(1);
  });

  test('an allocation that never became healthy on this node goes first', () => {
    const [sick, ...rest] = [make(service, { ClientStatus: 'pending' }), ...two()];
    expect(decide([service], [...rest, sick!]).migrate).toEqual([sick]);
    const alone = [1, 2, 3].map(() => make(service, healthy(false)));
    expect(decide([service], alone).migrate).toEqual([alone[0]]);
    // An allocation that is missing elsewhere still holds up all of them.
    expect(decide([service], [...rest.slice(1), sick!]).migrate).toEqual([]);
  });

  test('canaries go as well, and do not wait for the others', () => {
    const Canary = { DeploymentStatus: { ...healthy(true).DeploymentStatus, Canary: true } };
    const canary = make(service, Canary);
    expect(decide([service], [...two(), canary]).migrate).toEqual([canary]);
  });
});

describe('the order in which allocations go', () => {
  const batch = makeJob('batch');
  const sysbatch = makeJob('sysbatch', 1);
  const system = makeJob('system', 1);
  const all = [service, batch, sysbatch, system];
  const kinds = ({ migrate }: DrainDecision) => migrate.map(({ JobID }) => JobID).sort();

  test.each<[string, Job[], DrainStrategy, string[]]>([
    ['services at once, the rest later', all, patient, ['service']],
    ['batch work never before the deadline', [batch, sysbatch], inMs(1), []],
    ['all at the deadline', all, inMs(0), ['batch', 'service', 'sysbatch', 'system']],
    ['system jobs when nothing else is left', [system], patient, ['system']],
    ['system jobs not before batch work', [batch, system], patient, []],
    [
      'no system jobs when they are ignored',
      all,
      { ...inMs(0), IgnoreSystemJobs: true },
      ['batch', 'service'],
    ],
  ])('%s', (_title, present, strategy, expected) => {
    const allocations = present.flatMap((job) =>
      job === service ? [make(job), make(job, elsewhere), make(job, elsewhere)] : [make(job)],
    );
    expect(kinds(decide(all, allocations, strategy))).toEqual(expected);
  });

  test.each<[string, Allocation[], DrainStrategy, boolean]>([
    ['nothing is there', [], patient, true],
    ['all has ended', [make(service, { ClientStatus: 'complete' })], patient, true],
    ['something still ends', [make(service, { DesiredStatus: 'stop' })], patient, false],
    [
      'only ignored allocations are left',
      [make(system)],
      { ...patient, IgnoreSystemJobs: true },
      true,
    ],
    ['system jobs are left', [make(system)], patient, false],
  ])('empty when %s', (_title, allocations, strategy, expected) => {
    expect(decide(all, allocations, strategy).isEmpty).toBe(expected);
  });
});

test('a group never lacks more than it may, and at the deadline everything goes', () => {
  const fate = fc.record({
    here: fc.boolean(),
    isMarked: fc.boolean(),
    status: fc.constantFrom<Allocation['ClientStatus']>('pending', 'running', 'lost', 'unknown'),
    health: fc.constantFrom(true, false, null),
    desired: fc.constantFrom<Allocation['DesiredStatus']>('run', 'stop'),
  });
  const group = fc.record({
    count: fc.integer({ min: 0, max: 8 }),
    most: fc.integer({ min: 0, max: 4 }),
    fates: fc.array(fate, { maxLength: 10 }),
    isForced: fc.boolean(),
  });
  fc.assert(
    fc.property(group, ({ count, most, fates, isForced }) => {
      const job = makeJob('service', count, most);
      const all = fates.map(({ here, isMarked, status, health, desired }) =>
        make(job, {
          NodeID: here ? 'drained' : 'elsewhere',
          ClientStatus: status,
          DesiredStatus: desired,
          ...(isMarked && marked),
          ...(health !== null && healthy(health)),
        }),
      );
      const { migrate } = decide([job], all, isForced ? inMs(0) : patient);
      const movable = all.filter(
        (one) =>
          one.NodeID === 'drained' &&
          one.ClientStatus !== 'lost' &&
          one.DesiredStatus === 'run' &&
          one.DesiredTransition.Migrate !== true,
      );
      if (isForced) {
        expect(migrate).toEqual(movable);
        return;
      }
      expect(movable).toEqual(expect.arrayContaining([...migrate]));
      expect(migrate.length).toBeLessThanOrEqual(most);
      const leaves = new Set(migrate);
      const isSure = (one: Allocation) =>
        one.ClientStatus === 'running' &&
        one.DesiredStatus === 'run' &&
        one.DesiredTransition.Migrate !== true &&
        one.DeploymentStatus?.Healthy !== false;
      const before = all.filter(isSure).length;
      const after = all.filter((one) => isSure(one) && !leaves.has(one)).length;
      // The group's standing allocations go down to the number that has to stay, and no further.
      expect(after).toBeGreaterThanOrEqual(Math.min(before, count - most));
      // Only allocations on other nodes can hold up a drain.
      const isAlone = all.every((one) => movable.includes(one) || one.DesiredStatus !== 'run');
      const isFull = movable.length >= count && most > 0 && movable.length > 0;
      if (isAlone && isFull && all.every((one) => one.DesiredTransition.Migrate !== true)) {
        expect(migrate.length).toBeGreaterThan(0);
      }
    }),
  );
});
