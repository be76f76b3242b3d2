import {
  About,
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

/**
 * Source: docs/behaviour/job-specification.md#scaling-policies. `Min` null means the group's count.
 */
export const ScalingPolicySchema = Type.Object(
  {
    ID: About('The id of the policy, which stays through updates.', ResponseOnly(Text())),
    Namespace: About('Namespace of the job.', ResponseOnly(Text())),
    Type: About('The type of scaling.', Text({ default: 'horizontal' }), {
      rules: '`horizontal` for a group',
    }),
    Target: About('The target by its names. The server sets it for a group.', TextMap(), {
      absent: 'the group',
    }),
    Min: About('The minimum count.', Nullable(Type.Integer()), {
      absent: "the group's `Count`",
      rules: 'at least 0',
    }),
    Max: About('The maximum count.', Nullable(Type.Integer()), {
      rules: 'required; at least 0 and at least `Min`',
    }),
    Policy: About('Settings for the autoscaler, which the server does not interpret.', FreeMap()),
    Enabled: About('Whether autoscalers use the policy.', Flag(true)),
    ...stamps,
  },
  { title: 'Scaling' },
);
export type ScalingPolicy = Model<typeof ScalingPolicySchema>;
