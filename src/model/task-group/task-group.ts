import { placementRules, SpreadSchema } from '../constraint/constraint.ts';
import { NetworkSchema } from '../network/network.ts';
import { ScalingPolicySchema } from '../scaling-policy/scaling-policy.ts';
import {
  FullList,
  List,
  MapOf,
  type Model,
  Nanoseconds,
  Nullable,
  Text,
  TextMap,
  Type,
  Whole,
} from '../schema.ts';
import { ServiceSchema } from '../service/service.ts';
import { RegistryBlockSchema } from '../task/secrets.ts';
import { TaskSchema } from '../task/task.ts';
import { VolumeRequestSchema } from '../volume/volume.ts';
import {
  DisconnectSchema,
  EphemeralDiskSchema,
  MigrateStrategySchema,
  ReschedulePolicySchema,
  RestartPolicySchema,
  UpdateStrategySchema,
} from './policies.ts';

/** Source: spec/3-jobs.md §2.1 "TaskGroup", facts/scheduler.md §2.2. */
export const TaskGroupSchema = Type.Object({
  Name: Text(),
  Count: Whole({ default: 1, minimum: 0 }),
  ...placementRules,
  Spreads: List(SpreadSchema),
  Update: Nullable(UpdateStrategySchema),
  Migrate: Nullable(MigrateStrategySchema),
  RestartPolicy: RestartPolicySchema,
  ReschedulePolicy: Nullable(ReschedulePolicySchema),
  Disconnect: Nullable(DisconnectSchema),
  EphemeralDisk: EphemeralDiskSchema,
  Networks: List(NetworkSchema),
  Services: List(ServiceSchema),
  Tasks: FullList(TaskSchema),
  Scaling: Nullable(ScalingPolicySchema),
  Volumes: MapOf(VolumeRequestSchema),
  Registry: Nullable(RegistryBlockSchema),
  ShutdownDelay: Nullable(Nanoseconds({ minimum: 0 })),
  MaxRunDuration: Nullable(Nanoseconds({ minimum: 1 })),
  /** Deprecated and without effect; `Disconnect` replaced the three. */
  StopAfterClientDisconnect: Nullable(Nanoseconds()),
  MaxClientDisconnect: Nullable(Nanoseconds()),
  PreventRescheduleOnLost: Nullable(Type.Boolean()),
  Meta: TextMap(),
});
export type TaskGroup = Model<typeof TaskGroupSchema>;
