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
      'When it runs: before the main tasks, once they run, or after them.',
      Choice(['', 'prestart', 'poststart', 'poststop']),
      { rules: 'required' },
    ),
    Sidecar: About('It runs as long as the main tasks do, rather than to its end.', Flag()),
  },
  { title: 'Lifecycle' },
);
export type Lifecycle = Model<typeof LifecycleSchema>;

/**
 * A command that may be run inside the task. Source: docs/behaviour/job-specification.md#actions.
 */
export const ActionSchema = Type.Object(
  {
    Name: About('Names the action.', Text(), {
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
    ID: About('Names the plugin.', Text(), { rules: 'required' }),
    Type: About('What part of it the task is.', Choice(['', 'node', 'controller', 'monolith']), {
      rules: 'required',
    }),
    MountDir: About('Where its socket is.', Text({ default: '/csi' })),
    StagePublishBaseDir: About('Where volumes are mounted.', Text({ default: '/local/csi' })),
    HealthTimeout: About(
      'How long it may take to become healthy.',
      Nanoseconds({ default: 30e9, minimum: 0 }),
    ),
  },
  { title: 'CSIPluginConfig' },
);

const CronSchema = Type.Object(
  {
    Start: About('A cron expression.', Text()),
    End: About('A cron expression.', Text()),
    Timezone: About('The time zone of both.', Text()),
  },
  { title: 'Cron' },
);

/** Source: docs/contract/jobs.md#a-task, docs/behaviour/job-specification.md#tasks. */
export const TaskSchema = Type.Object(
  {
    Name: About('Names the task, and its directory.', Text(), {
      rules:
        'required; unique in the group; no slash, backslash or control character; not `alloc`, `.` or `..`',
    }),
    Driver: About('What runs it.', Text(), { rules: 'required' }),
    Config: About("The driver's own settings; taken as they are.", FreeMap()),
    User: About('The user that it runs as.', Text()),
    Env: About('Its environment; references are filled in.', WrittenTextMap(), {
      rules:
        'numbers and booleans become text; names are not empty and hold no `=`; a variable has at most 128 KiB',
    }),
    Meta: About('Names and values, over those of the group and the job.', TextMap(), metaRules),
    Kind: About('What the task is to the mesh: `<kind>:<service>` for a proxy.', Text()),
    KillSignal: About("What asks it to end; empty: the driver's.", Text()),
    KillTimeout: About(
      'How long it may take to end before it is killed.',
      Nanoseconds({ default: 5e9, minimum: 0 }),
      { rules: "in a service job at most the group's `Update.ProgressDeadline`" },
    ),
    ShutdownDelay: About(
      'How long to wait between taking its services out and asking it to end.',
      Nanoseconds({ minimum: 0 }),
    ),
    Leader: About('When it ends, the other tasks of the group are ended.', Flag(), {
      rules: 'at most one task of a group',
    }),
    Lifecycle: About(
      'When it runs beside the main tasks; null: it is one of them.',
      Nullable(LifecycleSchema),
      {
        rules: 'at least one task of a group has none',
      },
    ),
    Resources: About('What is set aside for it.', ResourcesSchema),
    LogConfig: About('How much of its output is kept.', LogConfigSchema),
    RestartPolicy: About('What happens when it fails.', RestartPolicySchema, {
      absent: "the group's, field by field",
    }),
    ...placementRules,
    Services: About('What it offers.', List(ServiceSchema)),
    Artifacts: About('What is fetched before it starts.', List(ArtifactSchema)),
    Templates: About('Files that are rendered for it.', List(TemplateSchema)),
    Actions: About('Commands that may be run in it.', List(ActionSchema)),
    VolumeMounts: About('What of the volumes of the group it sees.', List(VolumeMountSchema)),
    ScalingPolicies: About('For an autoscaler of its resources.', List(ScalingPolicySchema)),
    DispatchPayload: About(
      'Where the payload of a dispatched job is written.',
      Nullable(
        Type.Object(
          {
            File: About("A file in the task's `local/`.", Text(), {
              rules: 'required; stays inside `local/`',
            }),
          },
          { title: 'DispatchPayload' },
        ),
      ),
    ),
    Secrets: About('A token for the secrets engine.', Nullable(SecretsSchema)),
    SecretFetches: About('Secrets that are fetched before it starts.', List(SecretFetchSchema)),
    Registry: About('Where its services are registered.', Nullable(RegistryBlockSchema)),
    Identity: About('How its default identity is handed over.', Nullable(IdentitySchema)),
    Identities: About('Identities besides.', List(IdentitySchema)),
    CSIPluginConfig: About('It is a storage plugin.', Nullable(StoragePluginSchema)),
    Schedule: About(
      'When it runs.',
      Nullable(
        Type.Object(
          { Cron: About('Between two moments.', Nullable(CronSchema)) },
          { title: 'Schedule' },
        ),
      ),
    ),
  },
  { title: 'Task' },
);
export interface Task extends Model<typeof TaskSchema> {}
