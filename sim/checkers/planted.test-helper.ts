/** A state without a server, in which tests plant rows that no correct server writes. */
import { describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { type Allocation, AllocationSchema } from '../../src/model/allocation/allocation.ts';
import { complete } from '../../src/model/complete.ts';
import { type Deployment, DeploymentSchema } from '../../src/model/deployment/deployment.ts';
import { type Evaluation, EvaluationSchema } from '../../src/model/evaluation/evaluation.ts';
import type { Job } from '../../src/model/job/job.ts';
import type { Node } from '../../src/model/node/node.ts';
import {
  type ServiceRegistration,
  ServiceRegistrationSchema,
} from '../../src/model/service-registration/service-registration.ts';
import {
  makeGroup,
  makeJob,
  makeNode,
  type NodeWish,
} from '../../src/scheduler/cluster.test-helper.ts';
import { memoryState } from '../../src/state/state.test-helper.ts';
import {
  allocations,
  allTables,
  deployments,
  evaluations,
  jobs,
  jobVersions,
  nodes,
  serviceRegistrations,
} from '../../src/state/tables.ts';
import type { Change, Snapshot, Transaction } from '../../src/state/types.ts';
import { Account } from '../account.ts';
import type { Checker } from './checker.ts';

export type Plant = (transaction: Transaction) => void;

export const nowMs = Date.UTC(2026, 0, 1);
/** Time between two commits. */
const betweenMs = 60_000;

/** A test of a checker: the transactions to commit, and the faults that the checker finds. */
type Row = readonly [title: string, plants: readonly Plant[], faults: readonly string[]];

interface Around {
  /** Committed before the plants of each row. */
  readonly before?: readonly Plant[];
  /** Committed after them. */
  readonly after?: readonly Plant[];
}

export function testChecker(
  checker: () => Checker,
  rows: readonly Row[],
  { before = [], after = [] }: Around = {},
): void {
  describe(checker().guarantee, () => {
    test.each(rows)('%s', async (_title, plants, faults) => {
      expect(await faultsOf(checker(), ...before, ...plants, ...after)).toEqual(faults);
    });
  });
}

/** The plants that restore a snapshot, with the number of commits that it has. */
const restores = new WeakMap<Plant, number>();

/** Restores the state as it was after so many commits. */
export function restoreTo(commits: number): Plant {
  const plant: Plant = () => {};
  restores.set(plant, commits);
  return plant;
}

const bringBack =
  (then: Snapshot): Plant =>
  (transaction) => {
    for (const definition of allTables) {
      const table = transaction.table(definition);
      const gone = new Map([...table.scan()].map((row) => [definition.key(row).join(), row]));
      for (const row of then.table(definition).scan()) {
        const now = gone.get(definition.key(row).join());
        gone.delete(definition.key(row).join());
        if (now?.ModifyIndex !== row.ModifyIndex) table.put(row);
      }
      for (const row of gone.values()) table.delete(...definition.key(row));
    }
  };

/** Commits the plants and calls the checker after each commit and at rest. */
export async function faultsOf(checker: Checker, ...plants: readonly Plant[]): Promise<string[]> {
  const world = new SimulatedWorld(1);
  const state = await memoryState(allTables, world);
  const account = new Account();
  const faults: string[] = [];
  const fault = (sentence: string) => faults.push(sentence);
  let elapsedMs = 0;
  const scene = () => ({ account, view: state.read(), machines: new Map(), nowMs, elapsedMs });
  const views = [state.read()];
  let isRestored = false;
  state.onCommit((changes: readonly Change[], index) => {
    account.apply(changes, index);
    elapsedMs += betweenMs;
    if (isRestored) checker.restored?.(changes, index, scene(), fault);
    else checker.committed?.(changes, index, scene(), fault);
  });
  for (const plant of plants) {
    const restored = restores.get(plant);
    isRestored = restored !== undefined;
    await state.write(restored === undefined ? plant : bringBack(views[restored]!));
    views.push(state.read());
  }
  checker.rested?.(scene(), fault);
  return faults;
}

export const withNode =
  (ID: string, wish: NodeWish = {}): Plant =>
  (transaction) => {
    transaction.table(nodes).put(makeNode(ID, wish));
  };

export const changeNode =
  (ID: string, fields: Partial<Node>): Plant =>
  (transaction) => {
    const table = transaction.table(nodes);
    table.put({ ...table.get(ID)!, ...fields });
  };

/** Puts the job and its version. */
export const withJob =
  (job: Job): Plant =>
  (transaction) => {
    transaction.table(jobs).put(job);
    transaction.table(jobVersions).put({ ...job, CreateIndex: 10 });
  };

export const service = (Count: number, group: object = {}, job: object = {}): Job =>
  makeJob({ ...job, TaskGroups: [makeGroup({ Count, ...group })] });

/** An allocation of version 0 of `job.web`, which runs on `n1`. */
export const placed = (ID: string, fields: object = {}): Allocation =>
  complete(AllocationSchema, {
    ID,
    Namespace: 'default',
    Name: `job.web[${ID}]`,
    JobID: 'job',
    TaskGroup: 'web',
    NodeID: 'n1',
    ClientStatus: 'running',
    DesiredStatus: 'run',
    JobCreateIndex: 10,
    AllocatedResources: {
      Tasks: { server: { Cpu: { CpuShares: 400 }, Memory: { MemoryMB: 100 } } },
      Shared: { DiskMB: 1, Ports: null, Networks: null },
    },
    ...fields,
  }) as Allocation;

export const stopped = (ID: string, fields: object = {}): Allocation =>
  placed(ID, { DesiredStatus: 'stop', ...fields });

/** An allocation that has been told to migrate. */
export const marked = (ID: string): Allocation =>
  placed(ID, { DesiredTransition: { Migrate: true } });

export const put =
  (...rows: readonly Allocation[]): Plant =>
  (transaction) => {
    for (const row of rows) transaction.table(allocations).put(row);
  };

export const withEvaluation =
  (fields: Partial<Evaluation>): Plant =>
  (transaction) => {
    const row = { ID: 'e', Namespace: 'default', JobID: 'job', ...fields };
    transaction.table(evaluations).put(complete(EvaluationSchema, row as never) as Evaluation);
  };

export const withDeployment =
  (fields: Partial<Deployment>): Plant =>
  (transaction) => {
    const row = { ID: 'd', Namespace: 'default', JobID: 'job', JobCreateIndex: 10, ...fields };
    transaction.table(deployments).put(complete(DeploymentSchema, row as never) as Deployment);
  };

export const withService =
  (fields: Partial<ServiceRegistration>): Plant =>
  (transaction) => {
    const row = { Namespace: 'default', NodeID: 'n1', JobID: 'job', ...fields };
    const whole = complete(ServiceRegistrationSchema, row as never) as ServiceRegistration;
    transaction.table(serviceRegistrations).put(whole);
  };

export const purgeJob: Plant = (transaction) => {
  transaction.table(jobs).delete('default', 'default', 'job');
};

export const purgeNode: Plant = (transaction) => {
  transaction.table(nodes).delete('n1');
};

/** Commits that only let minutes pass. */
export const minutes = (count: number): readonly Plant[] =>
  Array.from({ length: count }, (_, number) => withNode(`minute-${number}`));
