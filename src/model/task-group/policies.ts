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
 * Rolling updates; all zero where there are none.
 * Source: docs/behaviour/job-specification.md#update-strategies.
 */
export const UpdateStrategySchema = Type.Object(
  {
    Stagger: About(
      'How long to wait between two steps of a migration.',
      Nanoseconds({ minimum: 0 }),
      {
        rules: 'more than 0',
      },
    ),
    MaxParallel: About(
      'How many allocations are replaced at the same time; 0: all at once, without a deployment.',
      Whole({ minimum: 0 }),
    ),
    HealthCheck: About(
      'What makes an allocation healthy: its checks, its tasks running, or a word from outside.',
      Choice(['', 'checks', 'task_states', 'manual']),
    ),
    MinHealthyTime: About(
      'How long an allocation has to stay healthy before it counts.',
      Nanoseconds({ minimum: 0 }),
      { rules: 'less than `HealthyDeadline`' },
    ),
    HealthyDeadline: About(
      'After how long an allocation that is not healthy counts as unhealthy.',
      Nanoseconds({ minimum: 0 }),
      { rules: 'more than 0, less than `ProgressDeadline` unless that is 0' },
    ),
    ProgressDeadline: About(
      'Within what time the next allocation has to turn healthy; 0: the first unhealthy one fails ' +
        'the deployment.',
      Nanoseconds({ minimum: 0 }),
    ),
    AutoRevert: About('Go back to the last stable version when the deployment fails.', Flag()),
    AutoPromote: About('Promote the canaries as soon as all of them are healthy.', Flag(), {
      rules: 'needs `Canary` above 0',
    }),
    Canary: About(
      'How many allocations of the new version run beside the old ones until they are promoted; ' +
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
    Interval: About('The time within which restarts are counted.', Nanoseconds(), {
      rules: 'at least 5s',
    }),
    Delay: About('How long to wait before a restart.', Nanoseconds({ minimum: 0 })),
    Mode: About(
      'What follows the last attempt: the task fails, or goes on after `Interval`.',
      Choice(['fail', 'delay']),
    ),
    RenderTemplates: About('Render the templates anew at every restart.', Flag()),
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
    Interval: About(
      'The time within which replacements are counted.',
      Nanoseconds({ minimum: 0 }),
      { rules: 'with `Attempts`: at least 15s, and long enough for all of them' },
    ),
    Delay: About('How long to wait before the first replacement.', Nanoseconds({ minimum: 0 }), {
      rules: 'at least 5s',
    }),
    DelayFunction: About('How the delay grows from one replacement to the next.', Text(), {
      rules: 'one of `constant`, `exponential`, `fibonacci`',
    }),
    MaxDelay: About('What the delay grows to.', Nanoseconds({ minimum: 0 }), {
      rules: 'unless `constant`: at least 5s and at least `Delay`',
    }),
    Unlimited: About('Replace again and again.', Flag()),
  },
  { title: 'ReschedulePolicy' },
);
export type ReschedulePolicy = Model<typeof ReschedulePolicySchema>;

/** Rules for the time while a node is away. */
export const DisconnectSchema = Type.Object(
  {
    LostAfter: About(
      'How long an allocation on a node that is away counts as unknown before it is lost; 0: at once.',
      Nanoseconds({ minimum: 0 }),
    ),
    StopOnClientAfter: About(
      'How long an allocation goes on whose node reaches no server: the node ends it then. An allocation that was lost with its node is replaced only after the same time.',
      Nullable(Nanoseconds({ minimum: 0 })),
      { rules: 'service and batch jobs only; not together with `LostAfter`' },
    ),
    Replace: About('Place a replacement while the allocation is unknown.', Flag(true)),
    Reconcile: About(
      'Which one stays when the node comes back.',
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
      'How many allocations a drain moves at the same time.',
      Whole({ default: 1, minimum: 0 }),
    ),
    HealthCheck: About(
      'What makes a moved allocation healthy.',
      Choice(['', 'checks', 'task_states'], 'checks'),
      { rules: 'may be empty with `MaxParallel` 0 only' },
    ),
    MinHealthyTime: About(
      'How long it has to stay healthy before the next one moves.',
      Nanoseconds({ default: 10e9, minimum: 0 }),
      { rules: 'at most `HealthyDeadline`' },
    ),
    HealthyDeadline: About(
      'After how long the next one moves all the same.',
      Nanoseconds({ default: 300e9, minimum: 0 }),
    ),
  },
  { title: 'Migrate' },
);
export type MigrateStrategy = Model<typeof MigrateStrategySchema>;

export const EphemeralDiskSchema = Type.Object(
  {
    Sticky: About('Try to place a replacement on the same node, and keep the data.', Flag()),
    Migrate: About('Move the data to a replacement on another node.', Flag()),
    SizeMB: About(
      'Disk that is set aside for the allocation when it is placed, in MB; the logs of its tasks are a ' +
        'part of it. What tasks write is counted nowhere and not held to it.',
      Whole({ default: 300, minimum: limits.task.diskMbMin }),
    ),
  },
  { title: 'EphemeralDisk' },
);
export type EphemeralDisk = Model<typeof EphemeralDiskSchema>;
