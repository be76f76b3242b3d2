import { About, Choice, type Model, Text, Type, Whole } from '../schema.ts';

export const checkStatuses = ['pending', 'passing', 'warning', 'critical'] as const;
export type CheckStatus = (typeof checkStatuses)[number];

/** How a check fares, as its node knows it. Source: docs/guides/services.md#update-by-checks. */
export const CheckResultSchema = Type.Object(
  {
    ID: About('Names the check on its node.', Text()),
    Check: About('The name of the check.', Text()),
    Service: About('The service that it belongs to.', Text()),
    Group: Text(),
    Task: About('The task of the service; empty: it is of the group.', Text()),
    Type: Text(),
    Mode: About(
      '`healthiness`: a deployment waits for it; `readiness`: it does not.',
      Choice(['healthiness', 'readiness'], 'healthiness'),
    ),
    Status: Choice(checkStatuses, 'pending'),
    StatusCode: About('Of the answer to an `http` check; else 0.', Whole()),
    Output: About('What came of it last, cut to a bound.', Text()),
    Failures: About('How often it failed in a row.', Whole()),
    Timestamp: About('When it was last done, in Unix seconds; 0: not yet.', Whole()),
    Since: About('Since when it has this status, in Unix seconds.', Whole()),
  },
  { title: 'CheckResult' },
);
export interface CheckResult extends Model<typeof CheckResultSchema> {}
