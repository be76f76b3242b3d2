import { Choice, Flag, type Input, type Model, stamps, Type } from '../schema.ts';

/** `binpack` fills nodes, `spread` levels them. Source: docs/behaviour/scheduling.md#scores. */
export const schedulerAlgorithms = ['binpack', 'spread'] as const;

/** Which jobs may evict those of lower priority. */
export const PreemptionConfigSchema = Type.Object({
  SystemSchedulerEnabled: Flag(true),
  SysBatchSchedulerEnabled: Flag(),
  BatchSchedulerEnabled: Flag(),
  ServiceSchedulerEnabled: Flag(),
});

/** How the cluster places, as operators set it. One row. */
export const SchedulerConfigurationSchema = Type.Object({
  SchedulerAlgorithm: Choice(schedulerAlgorithms, 'binpack'),
  PreemptionConfig: PreemptionConfigSchema,
  ...stamps,
});
export type StoredSchedulerConfiguration = Model<typeof SchedulerConfigurationSchema>;
export type SchedulerConfigurationRequest = Input<StoredSchedulerConfiguration>;
