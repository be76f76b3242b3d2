/** Small complete records for tests. */
import { type Allocation, AllocationSchema } from '../model/allocation/allocation.ts';
import { complete } from '../model/complete.ts';
import { type Job, type JobInput, JobSchema } from '../model/job/job.ts';
import type { Input } from '../model/schema.ts';
import type { Task } from '../model/task/task.ts';

export const testPolicy = { Attempts: 2, Interval: 1800e9, Delay: 15e9, Mode: 'fail' };

export function testJob(tasks: readonly Input<Task>[], fields: JobInput = {}): Job {
  return complete(JobSchema, {
    ID: 'web',
    Name: 'web',
    Namespace: 'default',
    Datacenters: ['dc1'],
    ...fields,
    TaskGroups: [
      {
        Name: 'servers',
        RestartPolicy: testPolicy,
        Tasks: tasks.map((task) => ({
          Driver: 'mock',
          RestartPolicy: testPolicy,
          ...task,
        })),
      },
    ],
  });
}

export function testAllocation(fields: Input<Allocation> = {}): Allocation {
  return complete(AllocationSchema, {
    ID: 'a1111111-0000-4000-8000-000000000001',
    Namespace: 'default',
    Name: 'web.servers[2]',
    JobID: 'web',
    TaskGroup: 'servers',
    AllocModifyIndex: 1,
    ...fields,
  });
}
