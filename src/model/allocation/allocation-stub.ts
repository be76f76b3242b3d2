import { type JobType, jobTypes } from '../job/job.ts';
import { Choice, Nullable, Type } from '../schema.ts';
import { type Allocation, AllocationSchema } from './allocation.ts';

const stubFields = [
  'ID',
  'EvalID',
  'Name',
  'Namespace',
  'NodeID',
  'NodeName',
  'JobID',
  'JobVersion',
  'TaskGroup',
  'DesiredStatus',
  'DesiredDescription',
  'ClientStatus',
  'ClientDescription',
  'DesiredTransition',
  'DeploymentStatus',
  'FollowupEvalID',
  'PreviousAllocation',
  'NextAllocation',
  'RescheduleTracker',
  'PreemptedAllocations',
  'PreemptedByAllocation',
  'CreateIndex',
  'ModifyIndex',
  'CreateTime',
  'ModifyTime',
] as const satisfies readonly (keyof Allocation)[];

const { TaskStates, AllocatedResources, ...properties } = AllocationSchema.properties;

/** The schema of an allocation in a list. */
export const AllocationStubSchema = Type.Object({
  ...(Object.fromEntries(stubFields.map((field) => [field, properties[field]])) as Pick<
    typeof properties,
    (typeof stubFields)[number]
  >),
  JobType: Choice([...jobTypes, '']),
  TaskStates: Nullable(TaskStates),
  AllocatedResources: Type.Optional(AllocatedResources),
});

/** An allocation in a list. Source: docs/contract/jobs.md#records-of-a-job. */
export interface AllocationStub extends Pick<Allocation, (typeof stubFields)[number]> {
  readonly JobType: JobType | '';
  /** Null unless the caller asks for it. */
  readonly TaskStates: Allocation['TaskStates'] | null;
  /** Present only with `resources=true`. */
  readonly AllocatedResources?: Allocation['AllocatedResources'];
}

export interface StubOptions {
  readonly resources?: boolean;
  /** Default true. */
  readonly taskStates?: boolean;
}

/** `jobType` is `''` when the job is gone. */
export function allocationStub(
  allocation: Allocation,
  jobType: JobType | '',
  { resources = false, taskStates = true }: StubOptions = {},
): AllocationStub {
  const picked = Object.fromEntries(stubFields.map((field) => [field, allocation[field]]));
  return {
    ...(picked as unknown as Pick<Allocation, (typeof stubFields)[number]>),
    JobType: jobType,
    TaskStates: taskStates ? allocation.TaskStates : null,
    ...(resources ? { AllocatedResources: allocation.AllocatedResources } : {}),
  };
}
