import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { type Allocation, AllocationSchema } from '../../src/model/allocation/allocation.ts';
import { complete } from '../../src/model/complete.ts';
import { DeploymentSchema } from '../../src/model/deployment/deployment.ts';
import { EvaluationSchema } from '../../src/model/evaluation/evaluation.ts';
import type { Job } from '../../src/model/job/job.ts';
import { makeGroup, makeJob, makeNode } from '../../src/scheduler/cluster.test-helper.ts';
import {
  allocations,
  allTables,
  deployments,
  evaluations,
  jobs,
  jobVersions,
  nodes,
} from '../../src/state/tables.ts';
import { memoryState } from '../../src/state/testing.ts';
import type { Change, State, Transaction } from '../../src/state/types.ts';
import { Ledger, noAcknowledgedWriteLost } from './acknowledged.ts';
import { autoRevertLandsOnStable } from './auto-revert.ts';
import { blockedReasonIsTrue } from './blocked-reason.ts';
import type { Checker } from './checker.ts';
import { desiredCountsAreReached } from './desired-counts.ts';
import { indexOnlyRises } from './index-rises.ts';
import { atMostMaxParallelUnhealthy } from './max-parallel.ts';
import { noResourceTwice } from './resources.ts';

/** Commits what a test plants and asks the checker as the simulation does. */
async function judge(checker: Checker, ...plant: ((transaction: Transaction) => void)[]) {
  const world = new SimulatedWorld(1);
  const state: State = await memoryState(allTables, world);
  const faults: string[] = [];
  const scene = () => ({ view: state.read(), machines: new Map(), nowMs: 0 });
  const fault = (sentence: string) => faults.push(sentence);
  state.onCommit((changes: readonly Change[], index: number) =>
    checker.committed?.(changes, index, scene(), fault),
  );
  for (const rows of plant) await state.write(rows);
  checker.restarted?.(scene(), fault);
  checker.rested?.(scene(), fault);
  return faults;
}

const placed = (ID: string, fields: object = {}): Allocation =>
  complete(AllocationSchema, {
    ...{ ID, Namespace: 'default', Name: `job.web[${ID}]`, JobID: 'job', TaskGroup: 'web' },
    ...{ NodeID: 'n1', ClientStatus: 'running', DesiredStatus: 'run' },
    AllocatedResources: {
      Tasks: { server: { Cpu: { CpuShares: 400 }, Memory: { MemoryMB: 100 } } },
      Shared: { DiskMB: 1, Ports: null, Networks: null },
    },
    ...fields,
  }) as Allocation;

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

const put =
  (...rows: readonly Allocation[]) =>
  (transaction: Transaction) => {
    for (const row of rows) transaction.table(allocations).put(row);
  };

const oneNode = (transaction: Transaction) => {
  transaction.table(nodes).put(makeNode('n1'));
};

const withJob = (job: Job) => (transaction: Transaction) => {
  transaction.table(jobs).put(job);
  transaction.table(jobVersions).put(job);
};

const service = (Count: number, fields: object = {}) =>
  makeJob({ TaskGroups: [makeGroup({ Count, ...fields })] });

test('no resource is given twice', async () => {
  expect(await judge(noResourceTwice(), oneNode, put(placed('a'), placed('b')))).toEqual([]);
  expect(
    await judge(noResourceTwice(), oneNode, put(placed('a'), placed('b'), placed('c'))),
  ).toEqual(['1200 MHz is wanted on name-n1, which has 1000']);
  expect(
    await judge(noResourceTwice(), oneNode, put(placed('a', port(80)), placed('b', port(80)))),
  ).toEqual(['port 10.0.0.1:80 of name-n1 is held by a and b']);
});

test('desired counts are reached', async () => {
  const two = put(placed('a'), placed('b'));
  expect(await judge(desiredCountsAreReached(), withJob(service(2)), two)).toEqual([]);
  expect(await judge(desiredCountsAreReached(), withJob(service(3)), two)).toEqual([
    'job.web wants 3 and has 2',
  ]);
  const stopped = { ...service(2), Stop: true };
  expect(await judge(desiredCountsAreReached(), withJob(stopped), two)).toEqual([
    'job is stopped and 2 of it run',
  ]);
  const system = makeJob({ Type: 'system', Datacenters: ['*'], TaskGroups: [makeGroup()] });
  expect(await judge(desiredCountsAreReached(), oneNode, withJob(system))).toEqual([
    'job.web runs 0 times on name-n1',
  ]);
});

test('at most MaxParallel unhealthy', async () => {
  const job = service(3, { Update: { MaxParallel: 1 } });
  const old = (ID: string) =>
    placed(ID, {
      DesiredStatus: 'stop',
      DesiredDescription: 'alloc is being updated due to job update',
    });
  const next = (ID: string, PreviousAllocation: string, healthy: boolean | null = null) =>
    placed(ID, {
      ...{ PreviousAllocation, DeploymentID: 'd', JobVersion: 1 },
      DeploymentStatus: { Healthy: healthy, Timestamp: null, Canary: false, ModifyIndex: 0 },
    });
  const known = withJob({ ...job, Version: 1 });
  const both = put(old('a'), old('b'));
  expect(
    await judge(
      atMostMaxParallelUnhealthy(),
      known,
      both,
      put(next('c', 'a', true), next('d', 'b')),
    ),
  ).toEqual([]);
  expect(
    await judge(atMostMaxParallelUnhealthy(), known, both, put(next('c', 'a'), next('d', 'b'))),
  ).toEqual(['2 are replaced at a time, MaxParallel is 1: job.web[c], job.web[d]']);
});

test('auto-revert lands on the last stable version', async () => {
  const version = (Version: number, Stable: boolean) => (transaction: Transaction) => {
    transaction.table(jobVersions).put({ ...makeJob(), Version, Stable });
  };
  const failed = (target: number) => (transaction: Transaction) => {
    const JobCreateIndex = [...transaction.table(jobVersions).scan()][0]!.CreateIndex;
    const StatusDescription = `Failed due to unhealthy allocations - rolling back to job version ${target}`;
    const row = { ID: 'd', Namespace: 'default', JobID: 'job', JobVersion: 3, JobCreateIndex };
    const deployment = complete(DeploymentSchema, { ...row, StatusDescription, Status: 'failed' });
    transaction.table(deployments).put(deployment as never);
  };
  const history = [version(0, true), version(1, true), version(2, false), version(3, false)];
  expect(await judge(autoRevertLandsOnStable(), ...history, failed(1))).toEqual([]);
  expect(await judge(autoRevertLandsOnStable(), ...history, failed(0))).toEqual([
    'job went back to version 0, the newest stable one is 1',
  ]);
});

test('a blocked evaluation has a reason that is true', async () => {
  const blocked = (transaction: Transaction) => {
    const row = { ID: 'e', Namespace: 'default', JobID: 'job', Status: 'blocked' as const };
    const failures = { FailedTGAllocs: { web: {} } };
    const evaluation = complete(EvaluationSchema, { ...row, ...failures });
    transaction.table(evaluations).put(evaluation as never);
  };
  const large = service(1, {
    Tasks: [{ Name: 'server', Driver: 'raw_exec', Resources: { CPU: 2000 } }],
  });
  expect(await judge(blockedReasonIsTrue(), oneNode, withJob(large), blocked)).toEqual([]);
  expect(await judge(blockedReasonIsTrue(), oneNode, withJob(service(1)), blocked)).toEqual([
    'job.web waits for room and name-n1 has it',
  ]);
});

test('no acknowledged write is lost', async () => {
  const ledger = new Ledger();
  ledger.begun('job');
  ledger.registered('job', 10);
  expect(await judge(noAcknowledgedWriteLost(ledger))).toEqual([]);
  ledger.settled('job');
  expect(await judge(noAcknowledgedWriteLost(ledger), withJob(service(1)))).toEqual([]);
  expect(await judge(noAcknowledgedWriteLost(ledger))).toEqual([
    'job was registered at 10 and is at nothing',
    'job was registered at 10 and is at nothing',
  ]);
});

test('the index only rises', async () => {
  expect(await judge(indexOnlyRises(), oneNode, put(placed('a')))).toEqual([]);
  const checker = indexOnlyRises();
  await judge(checker, oneNode, put(placed('a')));
  expect(await judge(checker, oneNode)).toContain('index 1 was committed after 2');
});
