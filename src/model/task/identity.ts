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

/** A workload identity to be issued. Source: docs/behaviour/job-specification.md#identities. */
export const IdentitySchema = Type.Object(
  {
    Name: About('Names the identity. The default one has no other name.', Text(), {
      rules:
        'of `Identities`: 1 to 128 letters, digits, dashes or underscores, unique, not `default`',
    }),
    Audience: About('Whom the token is for.', List(Type.String()), { rules: 'no empty text' }),
    ChangeMode: About(
      'What happens to the task when the token is renewed.',
      Choice(['', 'noop', 'restart', 'signal']),
    ),
    ChangeSignal: About('The signal it gets with the mode `signal`.', Text(), {
      rules: 'required with the mode `signal`',
    }),
    Env: About('Put the token into the environment.', Flag()),
    File: About('Write the token to a file.', Flag()),
    Filepath: About('Where the file is.', Text(), { rules: 'needs `File`' }),
    TTL: About('How long a token is valid.', Nanoseconds({ minimum: 0 }), {
      rules: '0 for the default identity',
    }),
    ServiceName: About('The service that it is for.', Text()),
    ExtraClaims: About('Claims besides.', TextMap()),
  },
  { title: 'Identity' },
);
export type Identity = Model<typeof IdentitySchema>;
