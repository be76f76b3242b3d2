import { About, Choice, type Model, Text, Type, Whole } from '../schema.ts';

export const checkStatuses = ['pending', 'passing', 'warning', 'critical'] as const;
export type CheckStatus = (typeof checkStatuses)[number];

/** The state of a check, as its node knows it. Source: docs/guides/services.md#update-by-checks. */
export const CheckResultSchema = Type.Object(
  {
    ID: About('The id of the check on its node.', Text()),
    Check: About('The name of the check.', Text()),
    Service: About('The service of the check.', Text()),
    Group: Text(),
    Task: About('The task of the service; empty: the service is of the group.', Text()),
    Type: Text(),
    Mode: About(
      '`healthiness`: a deployment waits for it; `readiness`: it does not.',
      Choice(['healthiness', 'readiness'], 'healthiness'),
    ),
    Status: Choice(checkStatuses, 'pending'),
    StatusCode: About('The status code of the answer to an `http` check; else 0.', Whole()),
    Output: About('The output of the last run, cut to a bound.', Text()),
    Failures: About('How many times the check failed in a row.', Whole()),
    Timestamp: About('The time of the last run, in Unix seconds; 0: not yet.', Whole()),
    Since: About('The time of the last change of status, in Unix seconds.', Whole()),
  },
  { title: 'CheckResult' },
);
export interface CheckResult extends Model<typeof CheckResultSchema> {}
