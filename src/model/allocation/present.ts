import { type Job, JobSchema } from '../job/job.ts';
import { FullMapOf, List, type Model, Nullable, Type, Whole } from '../schema.ts';
import {
  AllocatedNetworkSchema,
  type AllocatedResources,
  type AllocatedTaskResources,
} from './allocated-resources.ts';
import { type Allocation, AllocationSchema } from './allocation.ts';

/** The resources of an allocation in the form for older clients. */
const SummedResourcesSchema = Type.Object({
  CPU: Whole(),
  MemoryMB: Whole(),
  MemoryMaxMB: Whole(),
  DiskMB: Whole(),
  Networks: List(AllocatedNetworkSchema),
});
type SummedResources = Model<typeof SummedResourcesSchema>;

/** An allocation with the version of the job that it runs. */
export const WholeAllocationSchema = Type.Object({
  ...AllocationSchema.properties,
  Job: Nullable(JobSchema),
  /** The sum over all tasks. `AllocatedResources` has more detail. */
  Resources: SummedResourcesSchema,
  SharedResources: SummedResourcesSchema,
  TaskResources: FullMapOf(SummedResourcesSchema),
});
export type WholeAllocation = Allocation & {
  readonly Job: Job | null;
  readonly Resources: SummedResources;
  readonly SharedResources: SummedResources;
  readonly TaskResources: Readonly<Record<string, SummedResources>>;
};

export function wholeAllocation(allocation: Allocation, job: Job | null): WholeAllocation {
  const { Tasks, Shared } = allocation.AllocatedResources;
  const tasks = Object.entries(Tasks).map(([name, task]) => [name, ofTask(task)] as const);
  return {
    ...allocation,
    Job: job,
    Resources: sum(
      tasks.map(([, task]) => task),
      Shared,
    ),
    SharedResources: ofShared(Shared),
    TaskResources: Object.fromEntries(tasks),
  };
}

const ofTask = ({ Cpu, Memory, Networks }: AllocatedTaskResources): SummedResources => ({
  CPU: Cpu.CpuShares,
  MemoryMB: Memory.MemoryMB,
  MemoryMaxMB: Memory.MemoryMaxMB,
  DiskMB: 0,
  Networks,
});

const ofShared = ({ DiskMB, Networks }: AllocatedResources['Shared']): SummedResources => ({
  CPU: 0,
  MemoryMB: 0,
  MemoryMaxMB: 0,
  DiskMB,
  Networks,
});

function sum(
  tasks: readonly SummedResources[],
  shared: AllocatedResources['Shared'],
): SummedResources {
  const total = (field: 'CPU' | 'MemoryMB' | 'MemoryMaxMB') =>
    tasks.reduce((all, task) => all + task[field], 0);
  const networks = [shared, ...tasks].flatMap(({ Networks }) => Networks ?? []);
  return {
    CPU: total('CPU'),
    MemoryMB: total('MemoryMB'),
    MemoryMaxMB: total('MemoryMaxMB'),
    DiskMB: shared.DiskMB,
    Networks: networks.length === 0 ? null : networks,
  };
}
