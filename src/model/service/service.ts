import {
  Choice,
  Flag,
  FreeMap,
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

export const CheckRestartSchema = Type.Object({
  Limit: Whole({ minimum: 0 }),
  Grace: Nanoseconds({ default: 1e9, minimum: 0 }),
  IgnoreWarnings: Flag(),
});
export type CheckRestart = Model<typeof CheckRestartSchema>;

const onUpdate = ['', 'require_healthy', 'ignore_warnings', 'ignore'] as const;

/** Source: facts/scheduler.md §2.7. */
export const CheckSchema = Type.Object({
  Name: Text(),
  Type: Text(),
  Command: Text(),
  Args: List(Type.String()),
  Path: Text(),
  Protocol: Text(),
  PortLabel: Text(),
  AddressMode: Choice(['', 'host', 'driver', 'alloc', 'alloc_ipv6']),
  Advertise: Text(),
  Interval: Nanoseconds(),
  Timeout: Nanoseconds(),
  InitialStatus: Choice(['', 'passing', 'warning', 'critical']),
  Method: Text(),
  Header: MapOf(Type.Array(Type.String())),
  Body: Text(),
  OnUpdate: Choice(onUpdate),
  CheckRestart: Nullable(CheckRestartSchema),
  SuccessBeforePassing: Whole({ minimum: 0 }),
  FailuresBeforeCritical: Whole({ minimum: 0 }),
  FailuresBeforeWarning: Whole({ minimum: 0 }),
  Expose: Flag(),
  TLSServerName: Text(),
  TLSSkipVerify: Flag(),
  GRPCService: Text(),
  GRPCUseTLS: Flag(),
  Notes: Text(),
  TaskName: Text(),
});
export type Check = Model<typeof CheckSchema>;

/** Who keeps a service's registration; both are this server. The second takes only http and tcp checks. */
export const serviceProviders = ['registry', 'scheduler'] as const;

/** A workload identity to be issued. Source: facts/scheduler.md §2.6 "Identity". */
export const IdentitySchema = Type.Object({
  Name: Text(),
  Audience: List(Type.String()),
  ChangeMode: Choice(['', 'noop', 'restart', 'signal']),
  ChangeSignal: Text(),
  Env: Flag(),
  File: Flag(),
  Filepath: Text(),
  TTL: Nanoseconds({ minimum: 0 }),
  ServiceName: Text(),
  ExtraClaims: TextMap(),
});
export type Identity = Model<typeof IdentitySchema>;

/** Source: facts/scheduler.md §2.7. */
export const ServiceSchema = Type.Object({
  Name: Text(),
  TaskName: Text(),
  PortLabel: Text(),
  AddressMode: Choice(['auto', 'host', 'driver', 'alloc', 'alloc_ipv6'], 'auto'),
  Address: Text(),
  Provider: Choice(serviceProviders, 'registry'),
  OnUpdate: Choice(onUpdate, 'require_healthy'),
  Tags: List(Type.String()),
  CanaryTags: List(Type.String()),
  Meta: TextMap(),
  CanaryMeta: TextMap(),
  TaggedAddresses: TextMap(),
  EnableTagOverride: Flag(),
  Checks: List(CheckSchema),
  CheckRestart: Nullable(CheckRestartSchema),
  Connect: FreeMap(),
  Cluster: Text({ default: 'default' }),
  Kind: Text(),
  Weights: Nullable(
    Type.Object({
      Passing: Whole({ default: 1, minimum: 1 }),
      Warning: Whole({ default: 1, minimum: 1 }),
    }),
  ),
  Identity: Nullable(IdentitySchema),
});
export type Service = Model<typeof ServiceSchema>;
