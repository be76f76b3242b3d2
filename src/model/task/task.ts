import { placementRules } from '../constraint/constraint.ts';
import { metaRules } from '../job/meta.ts';
import { limits } from '../limits.ts';
import { ScalingPolicySchema } from '../scaling-policy/scaling-policy.ts';
import {
  About,
  Choice,
  Flag,
  FreeMap,
  List,
  type Model,
  Nanoseconds,
  Nullable,
  Text,
  TextMap,
  Type,
  WrittenTextMap,
} from '../schema.ts';
import { ServiceSchema } from '../service/service.ts';
import { RestartPolicySchema } from '../task-group/policies.ts';
import { ArtifactSchema, LogConfigSchema, TemplateSchema, VolumeMountSchema } from './files.ts';
import { IdentitySchema } from './identity.ts';
import { ResourcesSchema } from './resources.ts';
import { RegistryBlockSchema, SecretFetchSchema, SecretsSchema } from './secrets.ts';

export const LifecycleSchema = Type.Object(
  {
    Hook: About(
      'When the task runs: before the main tasks, once they run, or after them.',
      Choice(['', 'prestart', 'poststart', 'poststop']),
      { rules: 'required' },
    ),
    Sidecar: About(
      'Whether the task runs as long as the main tasks, rather than to its own end.',
      Flag(),
    ),
  },
  { title: 'Lifecycle' },
);
export type Lifecycle = Model<typeof LifecycleSchema>;

/**
 * A command that may be run inside the task. Source: docs/behaviour/job-specification.md#actions.
 */
export const ActionSchema = Type.Object(
  {
    Name: About('The name of the action.', Text(), {
      rules: `1 to ${limits.names.actionLengthMax} characters without spaces, unique in the task`,
    }),
    Command: About('The program.', Text(), { rules: 'required' }),
    Args: About('Its arguments.', List(Type.String())),
  },
  { title: 'Action' },
);
export type Action = Model<typeof ActionSchema>;

/** Source: docs/behaviour/job-specification.md#tasks. */
export const StoragePluginSchema = Type.Object(
  {
    ID: About('The id of the plugin.', Text(), { rules: 'required' }),
    Type: About(
      'The part of the plugin that the task runs.',
      Choice(['', 'node', 'controller', 'monolith']),
      {
        rules: 'required',
      },
    ),
    MountDir: About('The directory of its socket.', Text({ default: '/csi' })),
    StagePublishBaseDir: About(
      'The directory in which volumes are mounted.',
      Text({ default: '/local/csi' }),
    ),
    HealthTimeout: About(
      'The time in which it has to become healthy.',
      Nanoseconds({ default: 30e9, minimum: 0 }),
    ),
  },
  { title: 'CSIPluginConfig' },
);

const CronSchema = Type.Object(
  {
    Start: About('The cron expression of the start.', Text()),
    End: About('The cron expression of the end.', Text()),
    Timezone: About('The time zone of both expressions.', Text()),
  },
  { title: 'Cron' },
);

/** Source: docs/contract/jobs.md#a-task, docs/behaviour/job-specification.md#tasks. */
export const TaskSchema = Type.Object(
  {
    Name: About('The name of the task and of its directory.', Text(), {
      rules:
        'required; unique in the group; no slash, backslash or control character; not `alloc`, `.` or `..`',
    }),
    Driver: About('The driver that runs the task.', Text(), { rules: 'required' }),
    Config: About('The settings of the driver.', FreeMap()),
    User: About('The user of the task.', Text()),
    Env: About('The environment of the task; references are filled in.', WrittenTextMap(), {
      rules:
        'numbers and booleans become text; names are not empty and hold no `=`; a variable has at most 128 KiB',
    }),
    Meta: About(
      'Names and values, which override the group’s and the job’s.',
      TextMap(),
      metaRules,
    ),
    Kind: About('The role of the task in the mesh: `<kind>:<service>` for a proxy.', Text()),
    KillSignal: About(
      'The signal that asks the task to end; empty: the signal of the driver.',
      Text(),
    ),
    KillTimeout: About(
      'The time in which the task has to end before it is killed.',
      Nanoseconds({ default: 5e9, minimum: 0 }),
      { rules: "in a service job at most the group's `Update.ProgressDeadline`" },
    ),
    ShutdownDelay: About(
      'The wait between the deregistration of its services and the signal that ends it.',
      Nanoseconds({ minimum: 0 }),
    ),
    Leader: About('Whether its end ends the other tasks of the group.', Flag(), {
      rules: 'at most one task of a group',
    }),
    Lifecycle: About(
      'When it runs beside the main tasks; null: it is a main task.',
      Nullable(LifecycleSchema),
      {
        rules: 'at least one task of a group has none',
      },
    ),
    Resources: About('The reserved resources.', ResourcesSchema),
    LogConfig: About('The logs of its output.', LogConfigSchema),
    RestartPolicy: About('The restarts after a failure.', RestartPolicySchema, {
      absent: "the group's, field by field",
    }),
    ...placementRules,
    Services: About('The services of the task.', List(ServiceSchema)),
    Artifacts: About('Files that are fetched before the task starts.', List(ArtifactSchema)),
    Templates: About('Files that are rendered for the task.', List(TemplateSchema)),
    Actions: About('Commands that may be run in the task.', List(ActionSchema)),
    VolumeMounts: About('The mounts of the group’s volumes.', List(VolumeMountSchema)),
    ScalingPolicies: About('The scaling policies for its resources.', List(ScalingPolicySchema)),
    DispatchPayload: About(
      'The file for the payload of a dispatched job.',
      Nullable(
        Type.Object(
          {
            File: About("The path of a file in the task's `local/`.", Text(), {
              rules: 'required; stays inside `local/`',
            }),
          },
          { title: 'DispatchPayload' },
        ),
      ),
    ),
    Secrets: About('A token for the secrets engine.', Nullable(SecretsSchema)),
    SecretFetches: About(
      'Secrets that are fetched before the task starts.',
      List(SecretFetchSchema),
    ),
    Registry: About('The registry of its services.', Nullable(RegistryBlockSchema)),
    Identity: About('The default identity of the task.', Nullable(IdentitySchema)),
    Identities: About('Identities besides.', List(IdentitySchema)),
    CSIPluginConfig: About(
      'Settings of a task that is a storage plugin.',
      Nullable(StoragePluginSchema),
    ),
    Schedule: About(
      'The times at which the task runs.',
      Nullable(
        Type.Object(
          { Cron: About('A schedule with a start and an end.', Nullable(CronSchema)) },
          { title: 'Schedule' },
        ),
      ),
    ),
  },
  { title: 'Task' },
);
export interface Task extends Model<typeof TaskSchema> {}
