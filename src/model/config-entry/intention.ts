/** Permissions to call a service, one source at a time. Source: docs/behaviour/intentions.md#sources. */
import { limits } from '../limits.ts';
import {
  About,
  Choice,
  Flag,
  List,
  type Model,
  Nullable,
  ResponseOnly,
  Text,
  Type,
  Whole,
} from '../schema.ts';
import { everyService } from './config-entry.ts';
import { tokenRules } from './token-requirements.ts';

const PathFields = {
  PathExact: About('The path.', Text()),
  PathPrefix: About('The beginning of the path.', Text()),
  PathRegex: About('A pattern that matches the whole path.', Text()),
};

const HeaderSchema = Type.Object({
  Name: About('Name of the header.', Text(), { rules: 'required' }),
  Present: About('The header is present.', Flag()),
  Exact: About('Equals this text.', Text()),
  Prefix: About('Begins with this text.', Text()),
  Suffix: About('Ends with this text.', Text()),
  Contains: About('Contains this text.', Text()),
  Regex: About('Matches this pattern completely.', Text()),
  Invert: About('Negates the match.', Flag()),
  IgnoreCase: About('Whether the match ignores case.', Flag()),
});

export const JwtSchema = Type.Object({
  Providers: About(
    'The accepted issuers of the token.',
    List(
      Type.Object({
        Name: About('Name of the provider.', Text()),
        VerifyClaims: About(
          'Required claims of the token.',
          List(
            Type.Object({
              Path: About(
                'Path of the claim, beginning with the outermost name.',
                List(Type.String()),
              ),
              Value: About('The required value.', Text()),
            }),
          ),
        ),
      }),
    ),
  ),
});

const PermissionSchema = Type.Object({
  Action: About('The action for matching requests.', Choice(['', 'allow', 'deny']), {
    rules: 'required',
  }),
  HTTP: About(
    'Which requests.',
    Nullable(
      Type.Object({
        ...PathFields,
        Header: About('Headers that all have to match.', List(HeaderSchema), {
          rules:
            'exactly one of `Present`, `Exact`, `Prefix`, `Suffix`, `Contains` and `Regex` each',
        }),
        Methods: About('Which methods; null: all.', List(Type.String())),
      }),
    ),
  ),
  JWT: About('The token that the requests need.', Nullable(JwtSchema), { rules: tokenRules }),
});

export const SourceSchema = Type.Object({
  Name: About('Name of the calling service; `*`: every service.', Text(), { rules: 'required' }),
  Namespace: About('Namespace of the calling service; `*`: every namespace.', Text(), {
    absent: 'that of the entry',
  }),
  Partition: About('Partition of the calling service.', Text(), { absent: 'that of the entry' }),
  Peer: About('The peer that has the service.', Text(), { rules: 'not together with `Partition`' }),
  SamenessGroup: About('A sameness group. Roster has none.', Text()),
  Action: About('The action for calls of the source.', Choice(['', 'allow', 'deny']), {
    rules: 'this or `Permissions`',
  }),
  Permissions: About(
    'Actions for requests: the first match decides; without a match, the default policy.',
    List(PermissionSchema),
    { rules: 'not for `*`; only for a service that speaks HTTP' },
  ),
  Precedence: About(
    'Of several matching intentions, the one with the greatest precedence decides.',
    ResponseOnly(Whole()),
  ),
  Type: About('The kind of the name.', Choice(['registry'], 'registry')),
  Description: About('For people.', Text({ maxLength: limits.config.descriptionLengthMax })),
});

export type IntentionSource = Model<typeof SourceSchema>;
export type IntentionPermission = Model<typeof PermissionSchema>;
export type PermissionHttp = NonNullable<IntentionPermission['HTTP']>;
export type PermissionHeader = Model<typeof HeaderSchema>;
export type IntentionJwt = Model<typeof JwtSchema>;

interface Named {
  readonly name: string;
  readonly namespace: string;
}

/**
 * The precedence of an intention; the destination counts before the source. For a destination by name: 9 for
 * a source by name, 8 for every source of a namespace, 7 for every source of all namespaces. For the
 * destination `*`: 6, 5 and 4. Source: docs/behaviour/intentions.md#precedence.
 */
export function precedenceOf(source: Named, destination: string): number {
  const ofDestination = destination === everyService ? 6 : 9;
  if (source.namespace === everyService) return ofDestination - 2;
  return source.name === everyService ? ofDestination - 1 : ofDestination;
}

export const byPrecedence = (left: IntentionSource, right: IntentionSource): number =>
  right.Precedence - left.Precedence || compare(nameOf(left), nameOf(right));

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** The text that identifies a source: sources are sorted and compared by it. */
export const nameOf = ({ Peer, Partition, Namespace, Name }: IntentionSource): string =>
  [Name, Namespace, Partition, Peer].join('\0');
