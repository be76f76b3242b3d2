import type { AclToken } from '../model/acl-token/acl-token.ts';
import { open, resourceAccess } from '../model/permission/permission.ts';
import { Choice, Text, Type, Whole } from '../model/schema.ts';
import { endpoints } from './endpoint.ts';
import { type Asked, decided, nothing, requireAcl, underAccessControl } from './needs.ts';
import type { QueryValues } from './query.ts';

const QuestionSchema = Type.Object({
  Resource: Text(),
  /** The name of the one thing; of `namespace` rights, the namespace. */
  Segment: Text(),
  Access: Text(),
  Namespace: Text(),
  Partition: Text(),
});

/** The question as it was asked, and its answer. */
const AnsweredSchema = Type.Object({
  ...Type.Partial(QuestionSchema).properties,
  Allow: Type.Boolean(),
});

const ExplanationSchema = Type.Object({
  /** Of the token that was asked about; empty when the caller shows none. */
  AccessorID: Text(),
  Permission: Text(),
  Allowed: Type.Boolean(),
  Reason: Text(),
  Rules: Type.Array(
    Type.Object({
      Policy: Type.Object({ ID: Text(), Name: Text() }),
      Via: Type.Array(Text()),
      Effect: Choice(['allow', 'deny', 'too-little']),
      Text: Text(),
      Line: Whole(),
      Column: Whole(),
    }),
  ),
  /** A rule that would allow it; empty when it is allowed, or when no rule could. */
  Missing: Text(),
});

const explainQuery = {
  permission: {
    kind: 'string',
    required: true,
    description: '`service:write`, `namespace:submit-job`, `management` …',
  },
  name: { kind: 'string', default: '', description: 'The one thing that it is about.' },
  accessor: { kind: 'string', default: '', description: "Another's token; needs acl:read." },
} as const;

export function ownAccessor({ caller }: Pick<Asked, 'caller'>): string {
  return caller.kind === 'token' || caller.kind === 'anonymous' ? caller.accessor : '';
}

/** Everybody asks about their own token; of another the rights of its place are asked. */
const ofItsToken = decided(
  'nothing, or `acl:read` where the token of another is asked about',
  (asked: Asked<QueryValues<typeof explainQuery>>, token: AclToken | undefined) => {
    requireAcl(asked);
    const { accessor } = asked.query;
    if (accessor === '' || accessor === ownAccessor(asked)) return open;
    const { Namespace: namespace, Partition: partition } = token ?? {
      ...{ Namespace: asked.namespace, Partition: asked.partition },
    };
    return resourceAccess('acl', 'read', { namespace, partition });
  },
);

export const aclDecisionEndpoints = endpoints(
  { group: 'acl', noun: 'acl', family: 'registry' },
  {
    authorize: {
      kind: 'write',
      methods: ['POST'],
      path: '/v1/internal/acl/authorize',
      summary: 'Ask what the caller may do, up to 64 questions at once',
      body: { schema: Type.Array(QuestionSchema), unknown: 'refuse' },
      answer: Type.Array(AnsweredSchema),
      permission: underAccessControl(nothing),
    },
    explain: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/acl/explain',
      summary: 'Why a token has a permission, or lacks it',
      query: explainQuery,
      answer: ExplanationSchema,
      permission: ofItsToken,
    },
  },
);
