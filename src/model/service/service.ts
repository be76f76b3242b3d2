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

/** The registry of a service; both are this server. The second takes only http and tcp checks. */
export const serviceProviders = ['registry', 'scheduler'] as const;

/** Source: docs/behaviour/job-specification.md#services. */
export const ServiceSchema = Type.Object(
  {
    Name: About(
      'The name it is registered under. `${JOB}`, `${TASKGROUP}`, `${TASK}` and `${BASE}` are filled in.',
      Text(),
      {
        absent: '`<job>-<group>-<task>`, for a group `<job>-<group>`',
        rules:
          'at most 63 letters, digits and inner dashes; unique for its port in a group or task',
      },
    ),
    TaskName: About('The task that it belongs to.', Text(), {
      absent: 'the task that it stands in',
      rules: 'a task of the group',
    }),
    PortLabel: About('The port that it is reached at.', Text(), {
      rules:
        "a label of the group's first network or of a task's; a number with the address mode `driver` or `alloc`",
    }),
    AddressMode: About(
      'Which address is registered.',
      Choice(['auto', 'host', 'driver', 'alloc', 'alloc_ipv6'], 'auto'),
      {
        rules:
          '`auto` with `Address`; `driver` for services of tasks, `alloc` and `alloc_ipv6` for those of groups',
      },
    ),
    Address: About('The address that is registered instead of the own one.', Text()),
    Provider: About(
      'Who keeps the registration. Both are this server; `scheduler` takes fewer kinds of checks.',
      Choice(serviceProviders, 'registry', 'provider'),
      { rules: 'the same in the whole group' },
    ),
    OnUpdate: About(
      'Whether a deployment waits for its checks.',
      Choice(onUpdateWords, 'require_healthy'),
    ),
    Tags: About('Words to find it by.', List(Type.String())),
    CanaryTags: About('Instead of `Tags`, as long as it is a canary.', List(Type.String())),
    Meta: About('Names and values registered with it.', TextMap()),
    CanaryMeta: About('Instead of `Meta`, as long as it is a canary.', TextMap()),
    TaggedAddresses: About('Further addresses by name.', TextMap()),
    EnableTagOverride: About('Let others change the registered tags.', Flag()),
    Checks: About('What its health is told by.', List(CheckSchema)),
    CheckRestart: About('For all its checks.', Nullable(CheckRestartSchema)),
    Connect: About('Its part in the mesh; taken as it is.', FreeMap(), {
      rules: 'for services of groups, provider `registry`',
    }),
    Cluster: About('The registry that it belongs to.', Text({ default: 'default' })),
    Kind: About('What kind of a service it is to the mesh.', Text()),
    Weights: About(
      'How much traffic it gets.',
      Nullable(
        Type.Object(
          {
            Passing: About('While its checks pass.', Whole({ default: 1, minimum: 1 })),
            Warning: About('While one of them warns.', Whole({ default: 1, minimum: 1 })),
          },
          { title: 'Weights' },
        ),
      ),
    ),
    Identity: About('The identity that it is registered with.', Nullable(IdentitySchema), {
      rules: 'needs an `Audience`',
    }),
  },
  { title: 'Service' },
);
export type Service = Model<typeof ServiceSchema>;
