import {
  About,
  Choice,
  Flag,
  FreeMap,
  List,
  type Model,
  Nullable,
  Text,
  TextMap,
  Type,
  Whole,
} from '../schema.ts';
import { IdentitySchema } from '../task/identity.ts';
import { CheckRestartSchema, CheckSchema, onUpdateWords } from './check.ts';

/** The registries of services. Both are this server; `scheduler` takes only http and tcp checks. */
export const serviceProviders = ['registry', 'scheduler'] as const;

/** Source: docs/behaviour/job-specification.md#services. */
export const ServiceSchema = Type.Object(
  {
    Name: About(
      'The name of the service. `${JOB}`, `${TASKGROUP}`, `${TASK}` and `${BASE}` are filled in.',
      Text(),
      {
        absent: '`<job>-<group>-<task>`, for a group `<job>-<group>`',
        rules:
          'at most 63 letters, digits and inner dashes; unique for its port in a group or task',
      },
    ),
    TaskName: About('The task of the service.', Text(), {
      absent: 'the task that has the block',
      rules: 'a task of the group',
    }),
    PortLabel: About('The port of the service.', Text(), {
      rules:
        "a label of the group's first network or of a task's; a number with the address mode `driver` or `alloc`",
    }),
    AddressMode: About(
      'The kind of address that is registered.',
      Choice(['auto', 'host', 'driver', 'alloc', 'alloc_ipv6'], 'auto'),
      {
        rules:
          '`auto` with `Address`; `driver` for services of tasks, `alloc` and `alloc_ipv6` for services of groups',
      },
    ),
    Address: About('An address that is registered in place of the allocation’s.', Text()),
    Provider: About(
      'The registry of the service. Both are this server; `scheduler` takes fewer kinds of checks.',
      Choice(serviceProviders, 'registry', 'provider'),
      { rules: 'the same in the whole group' },
    ),
    OnUpdate: About(
      'Whether a deployment waits for its checks.',
      Choice(onUpdateWords, 'require_healthy'),
    ),
    Tags: About('Words for searches.', List(Type.String())),
    CanaryTags: About('Replaces `Tags` while the allocation is a canary.', List(Type.String())),
    Meta: About('Names and values registered with it.', TextMap()),
    CanaryMeta: About('Replaces `Meta` while the allocation is a canary.', TextMap()),
    TaggedAddresses: About('Further addresses by name.', TextMap()),
    EnableTagOverride: About('Whether others may change the registered tags.', Flag()),
    Checks: About('The checks of the service.', List(CheckSchema)),
    CheckRestart: About(
      'The failures that restart the task, for all checks.',
      Nullable(CheckRestartSchema),
    ),
    Connect: About(
      'The part of the service in the mesh, which the server does not interpret.',
      FreeMap(),
      {
        rules: 'for services of groups, provider `registry`',
      },
    ),
    Cluster: About('The registry cluster of the service.', Text({ default: 'default' })),
    Kind: About('The kind of the service in the mesh.', Text()),
    Weights: About(
      'The share of traffic.',
      Nullable(
        Type.Object(
          {
            Passing: About('The weight while its checks pass.', Whole({ default: 1, minimum: 1 })),
            Warning: About('The weight while a check warns.', Whole({ default: 1, minimum: 1 })),
          },
          { title: 'Weights' },
        ),
      ),
    ),
    Identity: About('The identity for the registration.', Nullable(IdentitySchema), {
      rules: 'needs an `Audience`',
    }),
  },
  { title: 'Service' },
);
export type Service = Model<typeof ServiceSchema>;
