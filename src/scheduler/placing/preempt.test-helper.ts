/** A cluster on which jobs evict each other. Each test calls `newCluster` first. */
import type { JobInput } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import { makeGroup, makeJob, makeTask, TestCluster } from '../cluster.test-helper.ts';
import { schedulerDefaults } from '../view.ts';

export const everybody = { system: true, sysbatch: true, batch: true, service: true };

export interface Wish {
  readonly priority?: number;
  readonly count?: number;
  readonly cpu?: number;
  readonly memory?: number;
  readonly disk?: number;
  readonly moved?: number;
  readonly ports?: readonly number[];
  readonly gpus?: number;
  readonly sticky?: boolean;
  readonly env?: string;
  readonly job?: JobInput;
}

export let cluster: TestCluster;
let order: number;

export function newCluster(): void {
  cluster = new TestCluster();
  order = 0;
}

/** `preemption`: the job types that may evict. */
export function nodes(list: readonly Node[], preemption = everybody): void {
  for (const node of list) cluster.putNode(node);
  cluster.configuration = { ...schedulerDefaults, preemption };
}

export const jobOf = (ID: string, wish: Wish, version = 0) => {
  const { priority = 50, count = 1, cpu = 100, memory = 100, disk = 10, moved = 0 } = wish;
  const isService = (wish.job?.Type ?? 'service') === 'service';
  return makeJob(
    {
      ID,
      Priority: priority,
      ...wish.job,
      TaskGroups: [
        makeGroup({
          Count: count,
          EphemeralDisk: { SizeMB: disk, Sticky: wish.sticky ?? false },
          Update: isService ? { MaxParallel: 0 } : null,
          Migrate: isService ? { MaxParallel: moved, HealthCheck: 'checks' } : null,
          Networks: [
            { ReservedPorts: (wish.ports ?? []).map((Value) => ({ Label: `p${Value}`, Value })) },
          ],
          Tasks: [
            makeTask({
              Env: { value: wish.env ?? '' },
              Resources: {
                CPU: cpu,
                MemoryMB: memory,
                ...(wish.gpus && { Devices: [{ Name: 'gpu', Count: wish.gpus }] }),
              },
            }),
          ],
        }),
      ],
    },
    version,
  );
};

/** Evaluates the job. Each evaluation has its own id, which decides its ports. */
export function run(ID: string, wish: Wish, version = 0) {
  const job = jobOf(ID, wish, version);
  cluster.putJob(job);
  return cluster.run({ ID: `e${++order}`, JobID: ID, Type: job.Type });
}

/** Ids of the job's running allocations, in the order of creation. */
export const idsOf = (jobId: string): readonly string[] =>
  cluster.live().flatMap((one) => (one.JobID === jobId ? [one.ID] : []));

/** The number of victims by job. */
export const evicted = (): Record<string, number> => {
  const gone = cluster.allocations.filter((one) => one.DesiredStatus === 'evict');
  const counts = Map.groupBy(gone, (one) => one.JobID);
  return Object.fromEntries([...counts].map(([id, list]) => [id, list.length]));
};
