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
      'Restart the task when the check failed so many times in a row; 0: never.',
      Whole({ minimum: 0 }),
    ),
    Grace: About(
      'How long after a start failures do not count.',
      Nanoseconds({ default: 1e9, minimum: 0 }),
    ),
    IgnoreWarnings: About('Warnings do not count as failures.', Flag()),
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
    Name: About('Names the check.', Text(), {
      absent: '`service: "<name>" check`',
      rules: 'unique in a service of a task',
    }),
    Type: About('How it is checked.', Text(), {
      rules: 'required; `http` or `tcp`, for the provider `registry` also `script` or `grpc`',
    }),
    Command: About('The program of a `script` check.', Text(), { rules: 'required for `script`' }),
    Args: About('Arguments of the program.', List(Type.String())),
    Path: About('What an `http` check asks for.', Text(), {
      rules: 'required for `http`; a relative URL',
    }),
    Protocol: About('Of an `http` check; empty: `http`.', Text(), {
      rules: '`http` or `https` for `http`',
    }),
    PortLabel: About('The port that is checked.', Text(), {
      absent: "the service's",
      rules: 'needed here or on the service, but for `script`; as for services',
    }),
    AddressMode: About(
      'The address that is checked; empty: that of the service.',
      Choice(['', 'host', 'driver', 'alloc', 'alloc_ipv6']),
      { rules: 'not `driver` for the provider `scheduler`' },
    ),
    Advertise: About('The address that is registered for the check.', Text(), registryOnly),
    Interval: About('The time from one check to the next.', Nanoseconds(), {
      rules: 'required; at least 1s',
    }),
    Timeout: About('After what time without an answer it failed.', Nanoseconds(), {
      rules: 'required; at least 1s',
    }),
    InitialStatus: About(
      'What stands before the first check.',
      Choice(['', 'passing', 'warning', 'critical']),
    ),
    Method: About('Of an `http` check; empty: GET.', Text(), { rules: 'a method of HTTP' }),
    Header: About('Headers of an `http` check.', MapOf(Type.Array(Type.String()))),
    Body: About('The body of an `http` check.', Text()),
    OnUpdate: About('Whether a deployment waits for the check.', Choice(onUpdateWords), {
      absent: "the service's",
      rules:
        'not `ignore` together with `CheckRestart`; `ignore_warnings` needs its `IgnoreWarnings`',
    }),
    CheckRestart: About('When failures restart the task.', Nullable(CheckRestartSchema), {
      absent: "the service's, field by field",
    }),
    SuccessBeforePassing: About(
      'Successes in a row before it passes.',
      Whole({ minimum: 0 }),
      notScript,
    ),
    FailuresBeforeCritical: About(
      'Failures in a row before it is critical.',
      Whole({ minimum: 0 }),
      notScript,
    ),
    FailuresBeforeWarning: About(
      'Failures in a row before it warns.',
      Whole({ minimum: 0 }),
      notScript,
    ),
    Expose: About('Let the check through the proxy of the mesh.', Flag(), {
      rules: 'provider `registry` only; `http` or `grpc`, on a service of a group with `Connect`',
    }),
    TLSServerName: About('The name that the certificate has to have.', Text()),
    TLSSkipVerify: About('Do not verify the certificate.', Flag()),
    GRPCService: About('The service that a `grpc` check asks about.', Text(), registryOnly),
    GRPCUseTLS: About('Whether a `grpc` check speaks TLS.', Flag(), registryOnly),
    Notes: About('For people.', Text({ maxLength: limits.names.checkNotesLengthMax })),
    TaskName: About('The task that a `script` check runs in.', Text(), {
      rules: 'a task of the group; required for `script` on a service of a group that has none',
    }),
  },
  { title: 'Check' },
);
export type Check = Model<typeof CheckSchema>;
