import { Choice, Flag, type Model, Nanoseconds, Nullable, Text, Type, Whole } from '../schema.ts';

/** Rolling updates; all zero where there are none. Source: facts/scheduler.md §2.4. */
export const UpdateStrategySchema = Type.Object({
  Stagger: Nanoseconds({ minimum: 0 }),
  MaxParallel: Whole({ minimum: 0 }),
  HealthCheck: Choice(['', 'checks', 'task_states', 'manual']),
  MinHealthyTime: Nanoseconds({ minimum: 0 }),
  HealthyDeadline: Nanoseconds({ minimum: 0 }),
  ProgressDeadline: Nanoseconds({ minimum: 0 }),
  AutoRevert: Flag(),
  AutoPromote: Flag(),
  Canary: Whole({ minimum: 0 }),
});
export type UpdateStrategy = Model<typeof UpdateStrategySchema>;

/** Restarts on the same node. Source: facts/scheduler.md §2.4. */
export const RestartPolicySchema = Type.Object({
  Attempts: Whole({ minimum: 0 }),
  Interval: Nanoseconds(),
  Delay: Nanoseconds({ minimum: 0 }),
  Mode: Choice(['fail', 'delay']),
  RenderTemplates: Flag(),
});
export type RestartPolicy = Model<typeof RestartPolicySchema>;

/** Replacement on another node. Source: facts/scheduler.md §2.4. */
export const ReschedulePolicySchema = Type.Object({
  Attempts: Whole({ minimum: 0 }),
  Interval: Nanoseconds({ minimum: 0 }),
  Delay: Nanoseconds({ minimum: 0 }),
  DelayFunction: Text(),
  MaxDelay: Nanoseconds({ minimum: 0 }),
  Unlimited: Flag(),
});
export type ReschedulePolicy = Model<typeof ReschedulePolicySchema>;

/** What happens while a node is away. Source: facts/scheduler.md §2.4. */
export const DisconnectSchema = Type.Object({
  LostAfter: Nanoseconds({ minimum: 0 }),
  StopOnClientAfter: Nullable(Nanoseconds({ minimum: 0 })),
  Replace: Flag(true),
  Reconcile: Choice(
    ['best_score', 'keep_original', 'keep_replacement', 'longest_running'],
    'best_score',
  ),
});
export type Disconnect = Model<typeof DisconnectSchema>;

/** How a drain moves allocations. Source: facts/scheduler.md §2.4. */
export const MigrateStrategySchema = Type.Object({
  MaxParallel: Whole({ default: 1, minimum: 0 }),
  HealthCheck: Choice(['', 'checks', 'task_states'], 'checks'),
  MinHealthyTime: Nanoseconds({ default: 10e9, minimum: 0 }),
  HealthyDeadline: Nanoseconds({ default: 300e9, minimum: 0 }),
});
export type MigrateStrategy = Model<typeof MigrateStrategySchema>;

export const EphemeralDiskSchema = Type.Object({
  Sticky: Flag(),
  Migrate: Flag(),
  SizeMB: Whole({ default: 300 }),
});
export type EphemeralDisk = Model<typeof EphemeralDiskSchema>;
