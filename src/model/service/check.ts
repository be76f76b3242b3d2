import { limits } from '../limits.ts';
import {
  About,
  Choice,
  Flag,
  List,
  MapOf,
  type Model,
  Nanoseconds,
  Nullable,
  Text,
  Type,
  Whole,
} from '../schema.ts';

export const CheckRestartSchema = Type.Object(
  {
    Limit: About(
      'Number of failures in a row that restart the task; 0: no restarts.',
      Whole({ minimum: 0 }),
    ),
    Grace: About(
      'The time after a start in which failures do not count.',
      Nanoseconds({ default: 1e9, minimum: 0 }),
    ),
    IgnoreWarnings: About('Whether warnings do not count as failures.', Flag()),
  },
  { title: 'CheckRestart' },
);
export type CheckRestart = Model<typeof CheckRestartSchema>;

export const onUpdateWords = ['', 'require_healthy', 'ignore_warnings', 'ignore'] as const;

const notScript = { rules: 'provider `registry` only, and not for `script`' };
const registryOnly = { rules: 'provider `registry` only' };

/** Source: docs/behaviour/job-specification.md#checks. */
export const CheckSchema = Type.Object(
  {
    Name: About('The name of the check.', Text(), {
      absent: '`service: "<name>" check`',
      rules: 'unique in a service of a task',
    }),
    Type: About('The type of the check.', Text(), {
      rules: 'required; `http` or `tcp`, for the provider `registry` also `script` or `grpc`',
    }),
    Command: About('The program of a `script` check.', Text(), { rules: 'required for `script`' }),
    Args: About('Arguments of the program.', List(Type.String())),
    Path: About('The path of an `http` check.', Text(), {
      rules: 'required for `http`; a relative URL',
    }),
    Protocol: About('The protocol of an `http` check; empty: `http`.', Text(), {
      rules: '`http` or `https` for `http`',
    }),
    PortLabel: About('The port that is checked.', Text(), {
      absent: "the service's",
      rules: 'required here or on the service, except for `script`; as for services',
    }),
    AddressMode: About(
      'The address that is checked; empty: the service’s.',
      Choice(['', 'host', 'driver', 'alloc', 'alloc_ipv6']),
      { rules: 'not `driver` for the provider `scheduler`' },
    ),
    Advertise: About('The address that is registered for the check.', Text(), registryOnly),
    Interval: About('The interval of the check.', Nanoseconds(), {
      rules: 'required; at least 1s',
    }),
    Timeout: About('The time without an answer after which the check fails.', Nanoseconds(), {
      rules: 'required; at least 1s',
    }),
    InitialStatus: About(
      'The status before the first check.',
      Choice(['', 'passing', 'warning', 'critical']),
    ),
    Method: About('The method of an `http` check; empty: GET.', Text(), {
      rules: 'a method of HTTP',
    }),
    Header: About('Headers of an `http` check.', MapOf(Type.Array(Type.String()))),
    Body: About('The body of an `http` check.', Text()),
    OnUpdate: About('Whether a deployment waits for the check.', Choice(onUpdateWords), {
      absent: "the service's",
      rules:
        'not `ignore` together with `CheckRestart`; `ignore_warnings` needs its `IgnoreWarnings`',
    }),
    CheckRestart: About('The failures that restart the task.', Nullable(CheckRestartSchema), {
      absent: "the service's, field by field",
    }),
    SuccessBeforePassing: About(
      'Successes in a row before the check passes.',
      Whole({ minimum: 0 }),
      notScript,
    ),
    FailuresBeforeCritical: About(
      'Failures in a row before the check is critical.',
      Whole({ minimum: 0 }),
      notScript,
    ),
    FailuresBeforeWarning: About(
      'Failures in a row before the check warns.',
      Whole({ minimum: 0 }),
      notScript,
    ),
    Expose: About('Whether the proxy of the mesh lets the check through.', Flag(), {
      rules: 'provider `registry` only; `http` or `grpc`, on a service of a group with `Connect`',
    }),
    TLSServerName: About('The required name in the certificate.', Text()),
    TLSSkipVerify: About('Whether the certificate is not verified.', Flag()),
    GRPCService: About('The service name in a `grpc` check.', Text(), registryOnly),
    GRPCUseTLS: About('Whether a `grpc` check uses TLS.', Flag(), registryOnly),
    Notes: About('For people.', Text({ maxLength: limits.names.checkNotesLengthMax })),
    TaskName: About('The task in which a `script` check runs.', Text(), {
      rules: 'a task of the group; required for `script` on a service of a group without a task',
    }),
  },
  { title: 'Check' },
);
export type Check = Model<typeof CheckSchema>;
