import { About, Choice, Flag, FreeMap, List, type Model, Text, TextMap, Type } from '../schema.ts';

/** The token block. Source: docs/behaviour/job-specification.md#secrets. */
export const SecretsSchema = Type.Object(
  {
    Role: About('The role of the token.', Text()),
    Policies: About('The policies of the token.', List(Type.String())),
    Namespace: About('The namespace of the secrets engine.', Text()),
    Cluster: About('The secrets engine.', Text({ default: 'default' })),
    Env: About('Whether the token is in the environment.', Flag(true)),
    DisableFile: About('Whether the token is not written to a file.', Flag()),
    ChangeMode: About(
      'The action when the token changes.',
      Choice(['noop', 'signal', 'restart'], 'restart'),
    ),
    ChangeSignal: About('The signal of the mode `signal`.', Text({ default: 'SIGHUP' })),
    AllowTokenExpiration: About('Whether the token is not renewed.', Flag()),
  },
  { title: 'Secrets' },
);
export type Secrets = Model<typeof SecretsSchema>;

/** A secret to fetch before the task starts. */
export const SecretFetchSchema = Type.Object(
  {
    Name: About('The name of the secret in templates and in the environment.', Text(), {
      rules: '1 to 128 letters, digits or underscores; unique',
    }),
    Provider: About('The provider of the secret.', Text(), { rules: 'required' }),
    Path: About('The path of the secret at its provider.', Text(), { rules: 'required' }),
    Config: About('Settings of a provider of the node.', FreeMap(), {
      rules: 'not together with `Env`',
    }),
    Env: About('The environment of a provider that is a program.', TextMap()),
  },
  { title: 'SecretFetch' },
);
export type SecretFetch = Model<typeof SecretFetchSchema>;

/** The registry for the services of a group or task. */
export const RegistryBlockSchema = Type.Object(
  {
    Namespace: About('The namespace of the registry.', Text()),
    Cluster: About('The registry.', Text({ default: 'default' })),
    Partition: About('The partition of the registry.', Text()),
  },
  { title: 'Registry' },
);
