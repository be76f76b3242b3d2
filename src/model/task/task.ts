import { placementRules } from '../constraint/constraint.ts';
import { ScalingPolicySchema } from '../scaling-policy/scaling-policy.ts';
import {
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
} from '../schema.ts';
import { IdentitySchema, ServiceSchema } from '../service/service.ts';
import { RestartPolicySchema } from '../task-group/policies.ts';
import { ArtifactSchema, LogConfigSchema, TemplateSchema, VolumeMountSchema } from './files.ts';
import { ResourcesSchema } from './resources.ts';
import { RegistryBlockSchema, SecretFetchSchema, SecretsSchema } from './secrets.ts';

export const LifecycleSchema = Type.Object({
  Hook: Choice(['', 'prestart', 'poststart', 'poststop']),
  Sidecar: Flag(),
});
export type Lifecycle = Model<typeof LifecycleSchema>;

/** A command that may be run inside the task. Source: facts/scheduler.md §2.6 "Action". */
export const ActionSchema = Type.Object({
  Name: Text(),
  Command: Text(),
  Args: List(Type.String()),
});
export type Action = Model<typeof ActionSchema>;

/** Source: facts/scheduler.md §2.6 "CSIPluginConfig". */
export const StoragePluginSchema = Type.Object({
  ID: Text(),
  Type: Choice(['', 'node', 'controller', 'monolith']),
  MountDir: Text({ default: '/csi' }),
  StagePublishBaseDir: Text({ default: '/local/csi' }),
  HealthTimeout: Nanoseconds({ default: 30e9, minimum: 0 }),
});

/** Source: spec/3-jobs.md §2.1 "Task", facts/scheduler.md §2.6. */
export const TaskSchema = Type.Object({
  Name: Text(),
  Driver: Text(),
  Config: FreeMap(),
  User: Text(),
  Env: TextMap(),
  Meta: TextMap(),
  Kind: Text(),
  KillSignal: Text(),
  KillTimeout: Nanoseconds({ default: 5e9, minimum: 0 }),
  ShutdownDelay: Nanoseconds({ minimum: 0 }),
  Leader: Flag(),
  Lifecycle: Nullable(LifecycleSchema),
  Resources: ResourcesSchema,
  LogConfig: LogConfigSchema,
  RestartPolicy: RestartPolicySchema,
  ...placementRules,
  Services: List(ServiceSchema),
  Artifacts: List(ArtifactSchema),
  Templates: List(TemplateSchema),
  Actions: List(ActionSchema),
  VolumeMounts: List(VolumeMountSchema),
  ScalingPolicies: List(ScalingPolicySchema),
  DispatchPayload: Nullable(Type.Object({ File: Text() })),
  Secrets: Nullable(SecretsSchema),
  SecretFetches: List(SecretFetchSchema),
  Registry: Nullable(RegistryBlockSchema),
  Identity: Nullable(IdentitySchema),
  Identities: List(IdentitySchema),
  CSIPluginConfig: Nullable(StoragePluginSchema),
  Schedule: Nullable(
    Type.Object({ Cron: Nullable(Type.Object({ Start: Text(), End: Text(), Timezone: Text() })) }),
  ),
});
export type Task = Model<typeof TaskSchema>;
