import {
  Flag,
  FreeMap,
  type Model,
  Nullable,
  ResponseOnly,
  stamps,
  Text,
  TextMap,
  Type,
} from '../schema.ts';

/** Source: facts/scheduler.md §2.10. `Min` null means the group's count. */
export const ScalingPolicySchema = Type.Object({
  ID: ResponseOnly(Text()),
  Namespace: ResponseOnly(Text()),
  Type: Text({ default: 'horizontal' }),
  Target: TextMap(),
  Min: Nullable(Type.Integer()),
  Max: Nullable(Type.Integer()),
  Policy: FreeMap(),
  Enabled: Flag(true),
  ...stamps,
});
export type ScalingPolicy = Model<typeof ScalingPolicySchema>;
