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
  Name: About('Name of the header.', Text()),
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
    'The accepted signature algorithms.',
    List(
      Type.Object({
        Name: About('Name of the provider.', Text()),
        VerifyClaims: About(
          'The required value.',
          List(
            Type.Object({
              Path: About('Where it says so.', List(Type.String())),
              Value: About('What.', Text()),
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
        Header: About('Headers that all have to match.', List(HeaderSchema)),
        Methods: About('Which methods; null: all.', List(Type.String())),
      }),
    ),
  ),
  JWT: About('The token that they need.', Nullable(JwtSchema), { rules: tokenRules }),
});

export const SourceSchema = Type.Object({
  Name: About('Who calls; `*`: every service.', Text()),
  Namespace: About('Where it lives; `*`: anywhere.', Text(), { absent: 'that of the entry' }),
  Partition: About('Where the entry is.', Text(), { absent: 'that of the entry' }),
  Peer: About('The peer that has the service.', Text(), { rules: 'not together with `Partition`' }),
  SamenessGroup: About('A sameness group. These do not exist.', Text()),
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
  Type: About('What kind of name it is.', Choice(['registry'], 'registry')),
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
 * The destination counts before the source: 9 both by name, 8 every source of a namespace, 7 every
 * source of all of them; 6, 5 and 4 the same for `*`. Source: docs/behaviour/intentions.md#precedence.
 */
export function precedenceOf(source: Named, destination: string): number {
  const ofDestination = destination === everyService ? 6 : 9;
  if (source.namespace === everyService) return ofDestination - 2;
  return source.name === everyService ? ofDestination - 1 : ofDestination;
}

export const byPrecedence = (left: IntentionSource, right: IntentionSource): number =>
  right.Precedence - left.Precedence || compare(nameOf(left), nameOf(right));

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** One text for one source, as sources are sorted and found twice by it. */
export const nameOf = ({ Peer, Partition, Namespace, Name }: IntentionSource): string =>
  [Name, Namespace, Partition, Peer].join('\0');
