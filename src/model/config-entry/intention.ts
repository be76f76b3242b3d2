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
  PathRegex: About('A pattern that the whole path fits.', Text()),
};

const HeaderSchema = Type.Object({
  Name: About('Of the header.', Text()),
  Present: About('It is there.', Flag()),
  Exact: About('It is this.', Text()),
  Prefix: About('It begins so.', Text()),
  Suffix: About('It ends so.', Text()),
  Contains: About('This is in it.', Text()),
  Regex: About('It fits this pattern as a whole.', Text()),
  Invert: About('Whether the opposite is asked for.', Flag()),
  IgnoreCase: About('Whether capitals do not count.', Flag()),
});

export const JwtSchema = Type.Object({
  Providers: About(
    'Who signs it: one of these.',
    List(
      Type.Object({
        Name: About('Of the provider.', Text()),
        VerifyClaims: About(
          'What it has to say.',
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
  Action: About('What becomes of requests that it fits.', Choice(['', 'allow', 'deny']), {
    rules: 'required',
  }),
  HTTP: About(
    'Which requests.',
    Nullable(
      Type.Object({
        ...PathFields,
        Header: About('What headers they have, all of these.', List(HeaderSchema)),
        Methods: About('Which methods; null: all.', List(Type.String())),
      }),
    ),
  ),
  JWT: About('What token they show.', Nullable(JwtSchema), { rules: tokenRules }),
});

export const SourceSchema = Type.Object({
  Name: About('Who calls; `*`: every service.', Text()),
  Namespace: About('Where it lives; `*`: anywhere.', Text(), { absent: 'that of the entry' }),
  Partition: About('Where it lives.', Text(), { absent: 'that of the entry' }),
  Peer: About('The peer that it is of.', Text(), { rules: 'not together with `Partition`' }),
  SamenessGroup: About('A group of clusters that are alike; there are none here.', Text()),
  Action: About('What becomes of its calls.', Choice(['', 'allow', 'deny']), {
    rules: 'this or `Permissions`',
  }),
  Permissions: About(
    'What becomes of its requests: the first that fits decides, and none: the default.',
    List(PermissionSchema),
    { rules: 'not for `*`; only for a service that speaks HTTP' },
  ),
  Precedence: About('Which of several that fit decides: the greatest.', ResponseOnly(Whole())),
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
