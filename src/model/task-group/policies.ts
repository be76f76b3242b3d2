import { limits } from '../limits.ts';
import {
  About,
  Choice,
  Flag,
  type Model,
  Nanoseconds,
  Nullable,
  Text,
  Type,
  Whole,
} from '../schema.ts';

/**
 * Rolling updates; all fields are zero in jobs without updates.
 * Source: docs/behaviour/job-specification.md#update-strategies.
 */
export const UpdateStrategySchema = Type.Object(
  {
    Stagger: About('The wait between two steps of a migration.', Nanoseconds({ minimum: 0 }), {
      rules: 'more than 0',
    }),
    MaxParallel: About(
      'Number of allocations that are replaced at the same time; 0: all at once, without a deployment.',
      Whole({ minimum: 0 }),
    ),
    HealthCheck: About(
      'The source of an allocation’s health: its checks, its running tasks, or a call of the API.',
      Choice(['', 'checks', 'task_states', 'manual']),
    ),
    MinHealthyTime: About(
      'The time that an allocation has to stay healthy before it counts.',
      Nanoseconds({ minimum: 0 }),
      { rules: 'less than `HealthyDeadline`' },
    ),
    HealthyDeadline: About(
      'The time after which an allocation that is not healthy yet counts as unhealthy.',
      Nanoseconds({ minimum: 0 }),
      { rules: 'more than 0, less than `ProgressDeadline` unless that is 0' },
    ),
    ProgressDeadline: About(
      'The time within which the next allocation has to become healthy; 0: the first unhealthy allocation fails ' +
        'the deployment.',
      Nanoseconds({ minimum: 0 }),
    ),
    AutoRevert: About('Whether a failed deployment rolls back to the last stable version.', Flag()),
    AutoPromote: About(
      'Whether the canaries are promoted as soon as all of them are healthy.',
      Flag(),
      {
        rules: 'needs `Canary` above 0',
      },
    ),
    Canary: About(
      'Number of allocations of the new version that run beside the old allocations until they are promoted; ' +
        'in a system job the percentage of nodes.',
      Whole({ minimum: 0, maximum: limits.job.countMax }),
      { rules: 'at most 100 in a system job' },
    ),
  },
  { title: 'Update' },
);
export type UpdateStrategy = Model<typeof UpdateStrategySchema>;

/** Restarts on the same node. Source: docs/behaviour/job-specification.md#restart-policies. */
export const RestartPolicySchema = Type.Object(
  {
    Attempts: About('Restarts within `Interval`.', Whole({ minimum: 0 }), {
      rules: 'above 0 with the mode `delay`; `Attempts` × `Delay` fit `Interval`',
    }),
    Interval: About('The time in which restarts are counted.', Nanoseconds(), {
      rules: 'at least 5s',
    }),
    Delay: About('The wait before a restart.', Nanoseconds({ minimum: 0 })),
    Mode: About(
      'The action after the last attempt: the task fails, or restarts again after `Interval`.',
      Choice(['fail', 'delay']),
    ),
    RenderTemplates: About('Whether templates are rendered again at every restart.', Flag()),
  },
  { title: 'RestartPolicy' },
);
export type RestartPolicy = Model<typeof RestartPolicySchema>;

/** Replacement on another node. Source: docs/behaviour/job-specification.md#reschedule-policies. */
export const ReschedulePolicySchema = Type.Object(
  {
    Attempts: About('Replacements within `Interval`.', Whole({ minimum: 0 }), {
      rules: '0 when `Unlimited` is true',
    }),
    Interval: About('The time in which replacements are counted.', Nanoseconds({ minimum: 0 }), {
      rules: 'with `Attempts`: at least 15s, and long enough for all of them',
    }),
    Delay: About('The wait before the first replacement.', Nanoseconds({ minimum: 0 }), {
      rules: 'at least 5s',
    }),
    DelayFunction: About('How the delay grows with each replacement.', Text(), {
      rules: 'one of `constant`, `exponential`, `fibonacci`',
    }),
    MaxDelay: About('The maximum delay.', Nanoseconds({ minimum: 0 }), {
      rules: 'unless `constant`: at least 5s and at least `Delay`',
    }),
    Unlimited: About('Whether the number of replacements is unlimited.', Flag()),
  },
  { title: 'ReschedulePolicy' },
);
export type ReschedulePolicy = Model<typeof ReschedulePolicySchema>;

/** Rules for allocations of a disconnected node. */
export const DisconnectSchema = Type.Object(
  {
    LostAfter: About(
      'The time for which an allocation on a disconnected node is unknown before it is lost; 0: it is lost at once.',
      Nanoseconds({ minimum: 0 }),
    ),
    StopOnClientAfter: About(
      'The time after which a node that reaches no server stops the allocation. A lost allocation is replaced only after the same time.',
      Nullable(Nanoseconds({ minimum: 0 })),
      { rules: 'service and batch jobs only; not together with `LostAfter`' },
    ),
    Replace: About('Whether an unknown allocation is replaced.', Flag(true)),
    Reconcile: About(
      'Which allocation stays when the node returns.',
      Choice(['best_score', 'keep_original', 'keep_replacement', 'longest_running'], 'best_score'),
    ),
  },
  { title: 'Disconnect' },
);
export type Disconnect = Model<typeof DisconnectSchema>;

/** How a drain moves allocations. Source: docs/behaviour/job-specification.md#migration. */
export const MigrateStrategySchema = Type.Object(
  {
    MaxParallel: About(
      'Number of allocations that a drain moves at the same time.',
      Whole({ default: 1, minimum: 0 }),
    ),
    HealthCheck: About(
      'The source of a moved allocation’s health.',
      Choice(['', 'checks', 'task_states'], 'checks'),
      { rules: 'empty only with `MaxParallel` 0' },
    ),
    MinHealthyTime: About(
      'The time that it has to stay healthy before the next allocation moves.',
      Nanoseconds({ default: 10e9, minimum: 0 }),
      { rules: 'at most `HealthyDeadline`' },
    ),
    HealthyDeadline: About(
      'The time after which the next allocation moves in any case.',
      Nanoseconds({ default: 300e9, minimum: 0 }),
    ),
  },
  { title: 'Migrate' },
);
export type MigrateStrategy = Model<typeof MigrateStrategySchema>;

export const EphemeralDiskSchema = Type.Object(
  {
    Sticky: About(
      'Whether a replacement is preferably placed on the same node, and keeps the data.',
      Flag(),
    ),
    Migrate: About('Whether the data moves to a replacement on another node.', Flag()),
    SizeMB: About(
      'Disk that is reserved for the allocation at its placement, in MB; the logs of its tasks are a ' +
        'part of it. The files of tasks are not measured, and not limited to it.',
      Whole({ default: 300, minimum: limits.task.diskMbMin }),
    ),
  },
  { title: 'EphemeralDisk' },
);
export type EphemeralDisk = Model<typeof EphemeralDiskSchema>;
