/** Of each checker: what is right passes, and what it watches over is found when it is wrong. */
import { expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import {
  allocations as allocationTable,
  jobs as jobTable,
  nodes as nodeTable,
} from '../../src/state/tables.ts';
import { Account } from '../account.ts';
import { noAcknowledgedWriteLost } from './acknowledged.ts';
import { autoRevertLandsOnStable } from './auto-revert.ts';
import { batchWorkIsDoneOnce } from './batch-work.ts';
import {
  changeNode,
  judge,
  type Plant,
  placed,
  put,
  service,
  withDeployment,
  withEvaluation,
  withJob,
  withNode,
  withService,
} from './bench.test-helper.ts';
import { blockedReasonIsTrue } from './blocked-reason.ts';
import type { Checker } from './checker.ts';
import { desiredCountsAreReached } from './desired-counts.ts';
import { whatIsAwayIsWaitedFor } from './disconnects.ts';
import { drainsEnd } from './drains-end.ts';
import { evictionsAreDeserved } from './evictions.ts';
import { failuresAreLookedAt } from './failures.ts';
import { indexOnlyRises } from './index-rises.ts';
import { atMostMaxParallelUnhealthy } from './max-parallel.ts';
import { drainsMoveFewAtATime } from './migrations.ts';
import { whatRunsHasAJob } from './orphans.ts';
import { placementKeepsTheRules } from './placements.ts';
import { noResourceTwice } from './resources.ts';
import { servicesAreThoseOfWhatRuns } from './services.ts';
import { summariesAddUp } from './summaries.ts';

interface Case {
  readonly title: string;
  readonly checker: () => Checker;
  readonly plants: readonly Plant[];
  /** What it finds. */
  readonly faults: readonly string[];
}

const port = (Value: number) => ({
  AllocatedResources: {
    Tasks: {},
    TaskLifecycles: {},
    Shared: {
      ...{ DiskMB: 0, Networks: null },
      Ports: [{ Label: 'http', Value, To: 0, HostIP: '10.0.0.1', HostNetwork: '' }],
    },
  },
});

const small = { Tasks: [{ Name: 'server', Driver: 'raw_exec', Resources: { CPU: 300 } }] };
const large = { Tasks: [{ Name: 'server', Driver: 'raw_exec', Resources: { CPU: 2000 } }] };

const resources = (title: string, faults: readonly string[], ...plants: Plant[]): Case => ({
  ...{ title: `resources: ${title}`, checker: noResourceTwice, faults },
  plants: [withNode('n1'), ...plants],
});

const counts = (title: string, faults: readonly string[], ...plants: Plant[]): Case => ({
  ...{ title: `counts: ${title}`, checker: desiredCountsAreReached, plants, faults },
});

const system = service(1, {}, { Type: 'system', Datacenters: ['*'] });

const rules = (title: string, faults: readonly string[], ...plants: Plant[]): Case => ({
  ...{ title: `rules: ${title}`, checker: placementKeepsTheRules, plants, faults },
});

/** One that an update has put in the place of another. */
const next = (ID: string, PreviousAllocation: string, Healthy: boolean | null = null) =>
  placed(ID, {
    ...{ PreviousAllocation, DeploymentID: 'd', JobVersion: 1 },
    DeploymentStatus: { Healthy, Timestamp: null, Canary: false, ModifyIndex: 0 },
  });
const stopped = (ID: string, fields: object = {}) =>
  placed(ID, { DesiredStatus: 'stop', ...fields });
const rack = '${meta.rack}';
const onePerRack = { Operand: 'distinct_property', LTarget: rack };
const oneAtATime = withJob({ ...service(3, { Update: { MaxParallel: 1 } }), Version: 1 });

const parallel = (title: string, faults: readonly string[], ...plants: Plant[]): Case => ({
  ...{ title: `MaxParallel: ${title}`, checker: atMostMaxParallelUnhealthy, faults },
  plants: [withNode('n1'), oneAtATime, put(placed('a'), placed('b')), ...plants],
});

const marked = (ID: string, fields: object = {}) =>
  placed(ID, { DesiredTransition: { Migrate: true }, ...fields });
const draining: Plant = changeNode('n1', { Drain: true });

const migrations = (title: string, faults: readonly string[], ...plants: Plant[]): Case => ({
  ...{ title: `drains: ${title}`, checker: drainsMoveFewAtATime, faults },
  plants: [
    withNode('n1'),
    withJob(service(3, { Migrate: { MaxParallel: 1 } })),
    put(placed('a'), placed('b'), placed('c')),
    draining,
    ...plants,
  ],
});

/** Told by a node whose machine nobody looks at. */
const services = (title: string, faults: readonly string[], ...plants: Plant[]): Case => ({
  ...{ title: `services: ${title}`, checker: servicesAreThoseOfWhatRuns, faults },
  plants: [...plants, withService({ ID: 'instance', ServiceName: 'web', AllocID: 'a' })],
});

const version = (Version: number, Stable: boolean, CPU: number): Plant =>
  withJob({
    ...service(1, { Tasks: [{ Name: 'server', Driver: 'raw_exec', Resources: { CPU } }] }),
    ...{ Version, Stable },
  });
const group = { AutoRevert: true } as never;
const failed = (how: string) =>
  withDeployment({
    ...{ JobVersion: 3, Status: 'failed', TaskGroups: { web: group } },
    StatusDescription: `Failed due to unhealthy allocations${how}`,
  });

const revert = (title: string, faults: readonly string[], ...plants: Plant[]): Case => ({
  ...{ title: `auto-revert: ${title}`, checker: autoRevertLandsOnStable, faults },
  plants: [
    ...[version(0, true, 100), version(1, true, 110), version(2, false, 120)],
    ...[version(3, false, 130), ...plants],
  ],
});

const done = (ID: string, fields: object = {}) =>
  placed(ID, { ClientStatus: 'complete', JobCreateIndex: 1, ...fields });

const batch = (title: string, faults: readonly string[], ...plants: Plant[]): Case => ({
  ...{ title: `batch: ${title}`, checker: batchWorkIsDoneOnce, faults },
  plants: [withJob(service(2, {}, { Type: 'batch' })), ...plants],
});

const waits = (fields: object = {}) =>
  withEvaluation({ Status: 'blocked', FailedTGAllocs: { web: {} as never }, ...fields });

const blocked = (title: string, faults: readonly string[], ...plants: Plant[]): Case => ({
  ...{ title: `blocked: ${title}`, checker: blockedReasonIsTrue, faults },
  plants: [withNode('n1'), ...plants],
});

const evicted = placed('low', { DesiredStatus: 'evict', PreemptedByAllocation: 'high' });
const evictor = placed('high', { JobID: 'important' });
const important = (Priority: number) =>
  withJob({ ...service(1, {}, { Type: 'system' }), ID: 'important', Priority });

const evictions = (title: string, faults: readonly string[], ...plants: Plant[]): Case => ({
  ...{ title: `evictions: ${title}`, checker: evictionsAreDeserved, faults },
  plants: [withJob(service(1)), put(placed('low')), ...plants],
});

/** The job is the second thing that is committed. */
const own = { JobCreateIndex: 2 };
const away = (ID: string) => placed(ID, { ClientStatus: 'unknown', ...own });
const givenUp = (ID: string) => placed(ID, { ClientStatus: 'lost', DesiredStatus: 'stop', ...own });

/** A minute passes with each commit. */
const disconnects = (
  title: string,
  Disconnect: object,
  faults: readonly string[],
  ...plants: Plant[]
): Case => ({
  ...{ title: `away: ${title}`, checker: whatIsAwayIsWaitedFor, faults },
  plants: [
    ...[withNode('n1'), withJob(service(2, { Disconnect })), put(placed('a', own))],
    ...[changeNode('n1', { Status: 'disconnected' }), ...plants],
  ],
});
const purgeNode: Plant = (transaction) => {
  transaction.table(nodeTable).delete('n1');
};
const forTwoMinutes = { LostAfter: 120e9 };

/** The job is the first thing that is committed, and a minute passes with each commit. */
const orphans = (title: string, faults: readonly string[], ...plants: Plant[]): Case => ({
  ...{ title: `orphans: ${title}`, checker: whatRunsHasAJob, faults },
  plants: [withJob(service(1)), put(placed('a', { JobCreateIndex: 1 })), ...plants],
});
const purge: Plant = (transaction) => {
  transaction.table(jobTable).delete('default', 'default', 'job');
};
const ended: Plant = put(placed('a', { JobCreateIndex: 1, DesiredStatus: 'stop' }));
const isOrphan = 'job.web[a] (a) is to run, and job is gone, or another one by now';

const drain = (title: string, faults: readonly string[], ...plants: Plant[]): Case => ({
  ...{ title: `drains end: ${title}`, checker: drainsEnd, faults },
  plants: [withNode('n1'), put(placed('a')), ...plants],
});
const until = (ForceDeadline: string | null): Plant =>
  changeNode('n1', { Drain: true, DrainStrategy: { ForceDeadline } as never });

const gone = placed('a', { ClientStatus: 'failed', ...own });

const lost = placed('a', { ClientStatus: 'lost', DesiredStatus: 'stop', ...own });
const minutes = (count: number): readonly Plant[] =>
  Array.from({ length: count }, (_, number) => withNode(`minute-${number}`));

/** Four minutes pass in the end. */
const failures = (title: string, faults: readonly string[], ...plants: Plant[]): Case => ({
  ...{ title: `failed: ${title}`, checker: failuresAreLookedAt, faults },
  plants: [
    ...[withNode('n1'), withJob(service(1, { ReschedulePolicy: { Unlimited: true } }))],
    ...[...plants, withNode('n2'), withNode('n3'), withNode('n4'), withNode('n5')],
  ],
});

const cases: readonly Case[] = [
  resources('what fits', [], put(placed('a'), placed('b'))),
  resources(
    'too much of it',
    ['1200 MHz is wanted on name-n1, which has 1000'],
    put(placed('a'), placed('b'), placed('c')),
  ),
  resources(
    'a port twice',
    ['port 10.0.0.1:80 of name-n1 is held by a and b'],
    put(placed('a', port(80)), placed('b', port(80))),
  ),
  counts('enough', [], withJob(service(2)), put(placed('0'), placed('1'))),
  counts('too few', ['job.web wants 3 and has 1'], withJob(service(3)), put(placed('a'))),
  counts(
    'an older version',
    ['1 of job.web are older than version 1'],
    withJob({ ...service(1), Version: 1 }),
    put(placed('0')),
  ),
  counts(
    'an older version of a system job where nothing new may come',
    [],
    withNode('n1', { SchedulingEligibility: 'ineligible' }),
    withJob({ ...system, Version: 1 }),
    put(placed('a')),
  ),
  counts('too few, but waiting', [], withJob(service(3)), waits(), put(placed('a'))),
  counts(
    'of a stopped job',
    ['job is stopped and 2 of it run'],
    withJob({ ...service(2), Stop: true }),
    put(placed('a'), placed('b')),
  ),
  counts(
    'a node without its system job',
    ['job.web runs 0 times on name-n1'],
    withNode('n1'),
    withJob(system),
  ),
  counts(
    'a deployment that never ends',
    ['deployment d of job is running'],
    withJob(service(0)),
    withDeployment({ Status: 'running' }),
  ),
  rules('a good place', [], withNode('n1'), withJob(service(1)), put(placed('a'))),
  rules(
    'a node that takes no work',
    ['job.web[a] was placed on name-n1, which takes no work'],
    withNode('n1', { SchedulingEligibility: 'ineligible' }),
    withJob(service(1)),
    put(placed('a')),
  ),
  rules(
    'another pool',
    ['job.web[a] was placed on name-n1, against its rules'],
    withNode('n1', { NodePool: 'other' }),
    withJob(service(1)),
    put(placed('a')),
  ),
  rules(
    'the same host again',
    ['job.web[b] was placed on name-n1, against distinct ${node.unique.id}'],
    withNode('n1'),
    withJob(service(2, { Constraints: [{ Operand: 'distinct_hosts', RTarget: 'true' }] })),
    put(placed('a')),
    put(placed('b')),
  ),
  ...(['ready', 'down'] as const).map((Status) =>
    rules(
      `the rack of one whose node is ${Status}`,
      Status === 'down' ? [] : ['job.web[b] was placed on name-n1, against distinct ${meta.rack}'],
      ...['n1', 'n2'].map((id) => withNode(id, { Meta: { rack: 'r1' } })),
      withJob(service(2, { Constraints: [{ Operand: 'distinct_property', LTarget: rack }] })),
      put(placed('a', { NodeID: 'n2' })),
      ...[changeNode('n2', { Status }), put(placed('b'))],
    ),
  ),
  ...[0, 300e9].map((LostAfter) =>
    rules(
      `the rack of one that is away, replaced and ${LostAfter > 0 ? '' : 'not '}waited for`,
      [],
      ...['n1', 'n2'].map((id) => withNode(id, { Meta: { rack: 'r1' } })),
      withJob(service(1, { Disconnect: { LostAfter }, Constraints: [onePerRack] })),
      put(placed('a', { NodeID: 'n2' })),
      changeNode('n2', { Status: 'disconnected' }),
      put(placed('a', { NodeID: 'n2', NextAllocation: 'b' }), placed('b')),
    ),
  ),
  rules(
    'the rack of one that is away and not replaced',
    ['job.web[b] was placed on name-n1, against distinct ${meta.rack}'],
    ...['n1', 'n2'].map((id) => withNode(id, { Meta: { rack: 'r1' } })),
    withJob(service(2, { Disconnect: { LostAfter: 300e9 }, Constraints: [onePerRack] })),
    put(placed('a', { NodeID: 'n2' })),
    ...[changeNode('n2', { Status: 'disconnected' }), put(placed('b'))],
  ),
  parallel(
    'one after the other',
    [],
    put(stopped('a'), next('c', 'a')),
    put(next('c', 'a', true)),
    put(stopped('b'), next('d', 'b')),
  ),
  parallel(
    'both at once',
    ['2 are replaced at a time, MaxParallel is 1: job.web[c], job.web[d]'],
    put(stopped('a'), next('c', 'a')),
    put(stopped('b'), next('d', 'b')),
  ),
  parallel(
    'what failed on the way is still on its way',
    ['2 are replaced at a time, MaxParallel is 1: job.web[e], job.web[d]'],
    put(stopped('a'), next('c', 'a')),
    put({ ...next('c', 'a', false), ClientStatus: 'failed' }),
    put({ ...next('c', 'a', false), NextAllocation: 'e' }, next('e', 'c')),
    put(stopped('b'), next('d', 'b')),
  ),
  parallel(
    'one that was lost takes the new version along',
    [],
    put(stopped('a'), next('c', 'a')),
    put(stopped('b', { ClientStatus: 'lost' }), next('d', 'b')),
  ),
  parallel(
    'one that is on a node which is away is as good as lost',
    [],
    ...[withNode('n2'), put(stopped('a'), { ...next('c', 'a'), NodeID: 'n2' })],
    changeNode('n2', { Status: 'disconnected' }),
    put(stopped('b'), next('d', 'b')),
  ),
  migrations(
    'one after the other',
    [],
    put(marked('a')),
    put(stopped('a', { NextAllocation: 'd' }), next('d', 'a', true)),
    put(marked('b')),
  ),
  migrations(
    'both at once',
    ['2 are moved at a time, Migrate.MaxParallel is 1: job.web[a], job.web[b]'],
    put(marked('a')),
    put(marked('b')),
  ),
  migrations(
    'the next one before the last is well',
    ['2 are moved at a time, Migrate.MaxParallel is 1: job.web[d], job.web[b]'],
    put(marked('a')),
    put(marked('a', { DesiredStatus: 'stop', NextAllocation: 'd' }), {
      ...next('d', 'a'),
      NodeID: 'n2',
    }),
    put(marked('b')),
  ),
  migrations(
    'all, when the time is up',
    [],
    changeNode('n1', { DrainStrategy: { ForceDeadline: '2025-12-31T00:00:00Z' } as never }),
    put(marked('a'), marked('b')),
  ),
  revert(
    'to the newest stable one',
    [],
    version(4, false, 110),
    failed(' - rolling back to job version 1'),
  ),
  revert(
    'to an older one',
    ['job went back to version 0, the newest stable one is 1'],
    version(4, false, 100),
    failed(' - rolling back to job version 0'),
  ),
  revert(
    'with another specification',
    ['job went back to version 1 and is not what that was'],
    version(4, false, 100),
    failed(' - rolling back to job version 1'),
  ),
  revert(
    'not at all',
    ['job did not go back to version 1: Failed due to unhealthy allocations'],
    failed(''),
  ),
  revert('not from what is no longer wanted', [], version(4, false, 140), failed('')),
  batch('all of it', [], put(done('a'), done('b'))),
  batch('too little', ['job.web was done 1 times and is wanted 2 times'], put(done('a'))),
  batch(
    'the same twice',
    ['job.web: the work of job.web[a] was done 2 times'],
    put(done('a'), done('b'), done('c', { Name: 'job.web[a]' })),
  ),
  blocked('no room', [], withJob(service(1, large)), waits()),
  blocked(
    'room',
    ['job.web waits for room and name-n1 has it'],
    withJob(service(1, small)),
    waits(),
  ),
  blocked('for nothing', ['evaluation e of job waits for nothing'], waits()),
  blocked(
    'a turn that never comes',
    ['evaluation e of job is still pending'],
    withJob(service(1)),
    withEvaluation({ Status: 'pending' }),
  ),
  evictions('by what matters more', [], important(80), put(evictor, evicted)),
  evictions(
    'by what matters as much',
    ['job.web[low] of 50 was evicted for job.web[high] of 55'],
    important(55),
    put(evictor, evicted),
  ),
  disconnects('long enough', forTwoMinutes, [], put(away('a')), put(givenUp('a'))),
  disconnects(
    'not long enough',
    forTwoMinutes,
    ['job.web[a] was given up after 60 s, and is waited for 120 s'],
    put(givenUp('a')),
  ),
  disconnects(
    'not at all',
    forTwoMinutes,
    ['job.web[a] was given up after 0 s, and is waited for 120 s'],
    changeNode('n1', { Status: 'ready' }),
    put(givenUp('a')),
  ),
  disconnects('that nobody waits for', {}, [], put(givenUp('a'))),
  disconnects(
    'on a node that was purged meanwhile, and joined anew',
    forTwoMinutes,
    [],
    ...[purgeNode, withNode('n1', { Status: 'initializing' }), put(givenUp('a'))],
  ),
  disconnects(
    'and replaced meanwhile',
    forTwoMinutes,
    [],
    put(away('a')),
    put(placed('b', { PreviousAllocation: 'a' })),
  ),
  disconnects(
    'and replaced although nothing should',
    { ...forTwoMinutes, Replace: false },
    ['job.web[b] was placed in the place of one that is away and is not to be replaced'],
    put(away('a')),
    put(placed('b', { PreviousAllocation: 'a' })),
  ),
  orphans('none', []),
  orphans('stopped in time', [], purge, ...minutes(8), ended),
  orphans('stopped too late', [isOrphan], purge, ...minutes(11), ended),
  orphans('never stopped', [isOrphan], purge),
  orphans('of the registration before', [isOrphan], purge, withJob(service(1))),
  orphans('stopped by the next registration', [], purge, withJob(service(1)), ended),
  drain('in time', [], until('2027-01-01T00:00:00Z')),
  drain('never', [], until(null)),
  drain('too late', ['name-n1 is still drained'], until('2025-12-31T00:00:00Z')),
  drain(
    'with something left',
    ['job.web[a] was told to leave name-n1 and is there'],
    put(marked('a')),
  ),
  drain(
    'with something that nobody tells to go',
    ['job.web[a] stays on name-n1, whose drain was over by 2025-12-31T00:00:00Z'],
    withJob(service(1)),
    until('2025-12-31T00:00:00Z'),
    ...Array.from({ length: 20 }, (_, number) => withNode(`other-${number}`)),
    until(null),
  ),
  failures('and is placed again', [], put(gone), put({ ...gone, NextAllocation: 'b' })),
  failures('and waits for its time', [], put(gone), withEvaluation({ Status: 'pending' })),
  failures('and is forgotten', ['job.web[a] failed, and nothing comes of it'], put(gone)),
  failures(
    'and is forgotten after it waited',
    ['job.web[a] failed, and nothing comes of it'],
    put(gone),
    withEvaluation({ Status: 'pending' }),
    ...minutes(4),
    withEvaluation({ Status: 'complete' }),
  ),
  failures('lost, and another one has its place', [], put(lost), put(placed('b', own))),
  failures('lost, and waited for', [], put(lost), withEvaluation({ Status: 'pending' })),
  failures('lost and forgotten', ['job.web[a] was lost, and nothing comes of it'], put(lost)),
  services('of one that runs', ['instance is found, and nothing runs there'], put(placed('a'))),
  services(
    'of one that is to end',
    [
      'instance is found, and its allocation is over, is to end, or is not there',
      'instance is found, and nothing runs there',
    ],
    put(stopped('a')),
  ),
  evictions('for nobody', ['job.web[low] was evicted for nobody'], put(evicted)),
];

test.each(cases)('$title', async ({ checker, plants, faults }) => {
  expect(await judge(checker(), ...plants)).toEqual(faults);
});

test('a summary that does not add up', async () => {
  expect(await judge(summariesAddUp(), withJob(service(1)), put(placed('a')))).toEqual([
    'job has no summary',
    'job is pending and should be running',
  ]);
});

test('the index only rises', async () => {
  const checker = indexOnlyRises();
  expect(await judge(checker, withNode('n1'), put(placed('a')))).toEqual([]);
  expect(await judge(checker, withNode('n1'))).toContain('index 1 was committed after 2');
});

test('no acknowledged write is lost', () => {
  const faults: string[] = [];
  const account = new Account();
  account.index = 5;
  const { answered } = noAcknowledgedWriteLost();
  answered(5, 'PUT /v1/jobs', account, (sentence) => faults.push(sentence));
  expect(faults).toEqual([]);
  answered(6, 'PUT /v1/jobs', account, (sentence) => faults.push(sentence));
  expect(faults).toEqual(['PUT /v1/jobs was answered with 6 at 5']);
});

test('what a restart lost, made up or changed', async () => {
  const whole = [withNode('n1'), put(placed('a'), placed('b'))];
  const lossy: Checker = {
    guarantee: '',
    rested({ account, ...scene }, fault) {
      const { restarted } = noAcknowledgedWriteLost();
      const was = new Account();
      was.reset(scene.view);
      const rows = was.rows(allocationTable) as Map<string, Allocation>;
      const [first, second] = [...rows];
      rows.delete(first![0]);
      rows.set(second![0], { ...second![1], ModifyIndex: 1 });
      rows.set('gone', second![1]);
      restarted!({ account: was, ...scene }, fault);
    },
  };
  expect(await judge(lossy, ...whole)).toEqual([
    'allocations default/default/a: was never committed, and is there of 2',
    'allocations default/default/b: was committed at 1 and is there of 2',
    '2 rows of allocations were committed and 1 are there',
  ]);
});
