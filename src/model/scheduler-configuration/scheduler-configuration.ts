import { Choice, Flag, type Input, type Model, stamps, Type } from '../schema.ts';

/** `binpack` fills nodes, `spread` levels them. Source: docs/behaviour/scheduling.md#scores. */
export const schedulerAlgorithms = ['binpack', 'spread'] as const;

/** The types of jobs that may evict allocations of lower priority. */
export const PreemptionConfigSchema = Type.Object({
  SystemSchedulerEnabled: Flag(true),
  SysBatchSchedulerEnabled: Flag(),
  BatchSchedulerEnabled: Flag(),
  ServiceSchedulerEnabled: Flag(),
});

/** The operators' settings of the scheduler, in a single row. */
export const SchedulerConfigurationSchema = Type.Object({
  SchedulerAlgorithm: Choice(schedulerAlgorithms, 'binpack'),
  PreemptionConfig: PreemptionConfigSchema,
  ...stamps,
});
export type StoredSchedulerConfiguration = Model<typeof SchedulerConfigurationSchema>;
export type SchedulerConfigurationRequest = Input<StoredSchedulerConfiguration>;
