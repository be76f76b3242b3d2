import {
  About,
  Choice,
  Flag,
  List,
  type Model,
  Nanoseconds,
  Text,
  TextMap,
  Type,
} from '../schema.ts';

/** A workload identity of a task. Source: docs/behaviour/job-specification.md#identities. */
export const IdentitySchema = Type.Object(
  {
    Name: About('The name of the identity. The default identity is called `default`.', Text(), {
      rules:
        'in `Identities`: 1 to 128 letters, digits, dashes or underscores, unique, not `default`',
    }),
    Audience: About('The audience of the token.', List(Type.String()), { rules: 'no empty text' }),
    ChangeMode: About(
      'The action when the token is renewed.',
      Choice(['', 'noop', 'restart', 'signal']),
    ),
    ChangeSignal: About('The signal of the mode `signal`.', Text(), {
      rules: 'required with the mode `signal`',
    }),
    Env: About('Whether the token is in the environment.', Flag()),
    File: About('Whether the token is written to a file.', Flag()),
    Filepath: About('The path of the file.', Text(), { rules: 'needs `File`' }),
    TTL: About('The lifetime of a token.', Nanoseconds({ minimum: 0 }), {
      rules: '0 for the default identity',
    }),
    ServiceName: About('The service of the identity.', Text()),
    ExtraClaims: About('Claims besides.', TextMap()),
  },
  { title: 'Identity' },
);
export type Identity = Model<typeof IdentitySchema>;
