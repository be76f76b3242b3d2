import type { AclToken } from '../model/acl-token/acl-token.ts';
import { type Denial, DenialSchema } from '../model/denial/denial.ts';
import { limits } from '../model/limits.ts';
import { allOf, open, resourceAccess } from '../model/permission/permission.ts';
import { Choice, Nullable, Text, Type, Whole } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { type Asked, decided, nothing, requireAcl, underAccessControl } from './needs.ts';
import { type QueryValues, text } from './query.ts';

const QuestionSchema = Type.Object({
  Resource: Text(),
  /** The name in the resource; for the resource `namespace`, the namespace. */
  Segment: Text(),
  Access: Text(),
  Namespace: Text(),
  Partition: Text(),
});

/** The question with its answer. */
const AnsweredSchema = Type.Object({
  ...Type.Partial(QuestionSchema).properties,
  Allow: Type.Boolean(),
});

const explanation = {
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
  /** A rule that would allow it; empty when it is allowed, or when no rule could allow it. */
  Missing: Text(),
};

const ExplanationSchema = Type.Object({
  /** The accessor of the token in question; empty for a caller without a token. */
  AccessorID: Text(),
  ...explanation,
});

const TrialSchema = Type.Object({
  /** The rules to try. */
  Rules: Text({ maxLength: limits.acl.rulesLengthMax }),
  /** The accessor of a token that has the policy in the trial, besides its own; empty: a token with this policy only. */
  AccessorID: Text(),
  /** The id of the policy whose rules are replaced in the trial; empty: the policy is a new one. */
  PolicyID: Text(),
  Questions: Type.Array(
    Type.Object({
      /** `service:write`, `namespace:submit-job`, `management` … */
      Permission: Text(),
      Name: Text(),
      Namespace: Text(),
      Partition: Text(),
    }),
  ),
});

const TriedSchema = Type.Object({
  /** In the order of the questions. */
  Decisions: Type.Array(
    Type.Object({
      ...explanation,
      /** Whether the token is allowed it as the policies are stored; null: no token is named. */
      Before: Nullable(Type.Boolean()),
    }),
  ),
});

const explainQuery = {
  permission: {
    kind: 'string',
    required: true,
    description: '`service:write`, `namespace:submit-job`, `management` …',
  },
  name: text('The name in question, such as that of a service.'),
  accessor: text('The accessor of another token; needs `acl:read`.'),
} as const;

export function ownAccessor({ caller }: Pick<Asked, 'caller'>): string {
  return caller.kind === 'token' || caller.kind === 'anonymous' ? caller.accessor : '';
}

/**
 * Callers may ask about their own token. For another token they need `acl:read` in its namespace.
 */
const ofItsToken = decided(
  'nothing, or `acl:read` where the token of another is asked about',
  (asked: Asked<QueryValues<typeof explainQuery>>, token: AclToken | undefined) => {
    requireAcl(asked);
    const { accessor } = asked.query;
    if (accessor === '' || accessor === ownAccessor(asked)) return open;
    const { Namespace: namespace, Partition: partition } = token ?? {
      Namespace: asked.namespace,
      Partition: asked.partition,
    };
    return resourceAccess('acl', 'read', { namespace, partition });
  },
);

const readsHereAndThere = decided(
  '`acl:read`, and in the namespace of the token as well',
  (asked: Asked, token: AclToken | undefined) => {
    requireAcl(asked);
    const { namespace, partition } = asked;
    const here = resourceAccess('acl', 'read', { namespace, partition });
    if (token === undefined) return here;
    const home = { namespace: token.Namespace, partition: token.Partition };
    return allOf(here, resourceAccess('acl', 'read', home));
  },
);

const ownOrRead = decided(
  'nothing for the own requests of the caller, and `acl:read` in the namespace of the token for those of others',
  (asked: Asked) => {
    requireAcl(asked);
    return open;
  },
);

export const aclDecisionEndpoints = endpoints(
  { group: 'acl', noun: 'acl', family: 'registry' },
  {
    authorize: {
      kind: 'write',
      methods: ['POST'],
      path: '/v1/internal/acl/authorize',
      summary: "Ask up to 64 questions about the caller's permissions",
      body: {
        example: [{ Resource: 'service', Segment: 'web', Access: 'write' }],
        schema: Type.Array(QuestionSchema),
        unknown: 'refuse',
      },
      answer: Type.Array(AnsweredSchema),
      permission: underAccessControl(nothing),
    },
    tryPolicy: {
      kind: 'read',
      methods: ['POST', 'PUT'],
      path: '/v1/acl/policy/try',
      summary: 'Try rules before they are stored: what they would allow, and by which rule',
      body: {
        example: {
          Rules: 'namespace "default" { policy = "read" }',
          Questions: [{ Permission: 'namespace:read-job', Name: 'default' }],
        },
        schema: TrialSchema,
        unknown: 'refuse',
        bytesMax: 2 * limits.acl.rulesLengthMax,
      },
      answer: TriedSchema,
      permission: readsHereAndThere,
    },
    denials: {
      // Each server remembers the requests that it refused.
      kind: 'list',
      path: '/v1/acl/denials',
      isOfServer: true,
      summary: 'List requests that the server has refused, the newest first',
      query: { accessor: text('The accessor of their token.') },
      answer: typed<Denial>(DenialSchema),
      filter: DenialSchema,
      permission: ownOrRead,
    },
    explain: {
      kind: 'read',
      path: '/v1/acl/explain',
      summary: 'Explain why a token has or lacks a permission',
      query: explainQuery,
      answer: ExplanationSchema,
      permission: ofItsToken,
    },
  },
);
