import { About, Choice, Flag, FreeMap, List, type Model, Text, TextMap, Type } from '../schema.ts';

/** The token block. Source: docs/behaviour/job-specification.md#secrets. */
export const SecretsSchema = Type.Object(
  {
    Role: About('The role that the token is made by.', Text()),
    Policies: About('The policies of the token.', List(Type.String())),
    Namespace: About('The namespace of the secrets engine.', Text()),
    Cluster: About('The secrets engine.', Text({ default: 'default' })),
    Env: About('Put the token into the environment.', Flag(true)),
    DisableFile: About('Do not write the token to a file.', Flag()),
    ChangeMode: About(
      'What happens to the task when the token is another one.',
      Choice(['noop', 'signal', 'restart'], 'restart'),
    ),
    ChangeSignal: About('The signal it gets with the mode `signal`.', Text({ default: 'SIGHUP' })),
    AllowTokenExpiration: About('Let the token run out.', Flag()),
  },
  { title: 'Secrets' },
);
export type Secrets = Model<typeof SecretsSchema>;

/** A secret to fetch before the task starts. */
export const SecretFetchSchema = Type.Object(
  {
    Name: About('Names the secret for templates and the environment.', Text(), {
      rules: '1 to 128 letters, digits or underscores; unique',
    }),
    Provider: About('Where it is kept.', Text(), { rules: 'required' }),
    Path: About('Where it is found there.', Text(), { rules: 'required' }),
    Config: About('For a provider of the node.', FreeMap(), { rules: 'not together with `Env`' }),
    Env: About('For a provider that is a program: its environment.', TextMap()),
  },
  { title: 'SecretFetch' },
);
export type SecretFetch = Model<typeof SecretFetchSchema>;

/** Where a group or task keeps its services. */
export const RegistryBlockSchema = Type.Object(
  {
    Namespace: About('The namespace of the registry.', Text()),
    Cluster: About('The registry.', Text({ default: 'default' })),
    Partition: About('The partition of the registry.', Text()),
  },
  { title: 'Registry' },
);
