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
    ID: About('Kept as long as there is the policy.', ResponseOnly(Text())),
    Namespace: About('Of the job.', ResponseOnly(Text())),
    Type: About('What is scaled.', Text({ default: 'horizontal' }), {
      rules: '`horizontal` for a group',
    }),
    Target: About("What is scaled, by its names. For a group the server's to fill.", TextMap(), {
      absent: 'the group',
    }),
    Min: About('The least count.', Nullable(Type.Integer()), {
      absent: "the group's `Count`",
      rules: 'at least 0',
    }),
    Max: About('The greatest count.', Nullable(Type.Integer()), {
      rules: 'required; at least 0 and at least `Min`',
    }),
    Policy: About('For the autoscaler; taken as it is.', FreeMap()),
    Enabled: About('Whether an autoscaler shall act on it.', Flag(true)),
    ...stamps,
  },
  { title: 'Scaling' },
);
export type ScalingPolicy = Model<typeof ScalingPolicySchema>;
