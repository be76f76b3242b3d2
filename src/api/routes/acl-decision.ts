import type { Subject } from '../../acl/authorizer.ts';
import { explain } from '../../acl/explain.ts';
import type { Linked } from '../../acl/links.ts';
import type { Resolver } from '../../acl/resolve.ts';
import type { AclToken } from '../../model/acl-token/acl-token.ts';
import { type Fault, invalid, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { faultAt, type Path } from '../../model/path.ts';
import { open, type Permission, resourceAccess } from '../../model/permission/permission.ts';
import {
  PermissionFault,
  permissionOf,
  splitPermission,
} from '../../model/permission/permission-words.ts';
import { Choice, type Model, Text, Type, Whole } from '../../model/schema.ts';
import type { Snapshot } from '../../state/types.ts';
import { type Input, type Route, readRoute, writeRoute } from '../route.ts';
import { aclRead, requireAcl } from './acl.ts';

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
type AuthorizeBody = readonly Partial<Model<typeof QuestionSchema>>[];

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

/** Source: docs/behaviour/access-control.md#asking-what-a-token-may-do. */
export function aclDecisionRoutes(resolver: Resolver): Route[] {
  return [
    writeRoute({
      method: 'POST',
      path: '/v1/internal/acl/authorize',
      noun: 'acl',
      summary: 'Ask what the caller may do, up to 64 questions at once',
      family: 'registry',
      body: { schema: Type.Array(QuestionSchema), unknown: 'refuse' },
      answer: Type.Array(AnsweredSchema),
      permission: (input) => {
        requireAcl(input);
        return open;
      },
      handle: async (input: Input<Record<never, never>, AuthorizeBody>) => {
        const permissions = askedOf(input);
        const value = input.body.map((question, at) => ({
          ...question,
          Allow: input.allows(permissions[at]!),
        }));
        return { value };
      },
    }),
    readRoute({
      method: 'GET',
      path: '/v1/acl/explain',
      noun: 'acl',
      summary: 'Why a token has a permission, or lacks it',
      family: 'registry',
      query: explainQuery,
      answer: ExplanationSchema,
      permission: (input) => {
        requireAcl(input);
        const { accessor } = input.query;
        if (accessor === '' || accessor === ownAccessor(input)) return open;
        const token = resolver.tokenOf(input.unwatched, accessor);
        if (token === undefined) return aclRead(input);
        const { Namespace: namespace, Partition: partition } = token;
        return resourceAccess('acl', 'read', { namespace, partition });
      },
      handle: ({ query, caller, snapshot, namespace, partition }) => {
        const accessor = query.accessor || ownAccessor({ caller });
        const token = accessor === '' ? undefined : resolver.tokenOf(snapshot, accessor);
        if (token === undefined && query.accessor !== '') {
          throw refusal('accessor-not-found', { accessor });
        }
        const permission = permissionIn(query.permission, query.name, { namespace, partition });
        const { subject, links } = decidedBy(resolver, snapshot, token, caller);
        const { Parts: _, ...explanation } = explain(subject, permission, links);
        return { AccessorID: accessor, ...explanation };
      },
    }),
  ];
}

function ownAccessor({ caller }: Pick<Input, 'caller'>): string {
  return caller.kind === 'token' || caller.kind === 'anonymous' ? caller.accessor : '';
}

/** What decides, and the policies that it is made of. */
function decidedBy(
  resolver: Resolver,
  snapshot: Snapshot,
  token: AclToken | undefined,
  caller: Subject['caller'],
): { readonly subject: Subject; readonly links: readonly Linked[] } {
  if (token !== undefined) {
    const subject = resolver.authorizerOf(snapshot, token);
    return { subject, links: resolver.linksOf(snapshot, token) };
  }
  if (caller.kind === 'workload') {
    const { authorizer, links } = resolver.workloadOf(snapshot, caller);
    return { subject: authorizer, links };
  }
  return { subject: { caller, rules: undefined, defaultPolicy: 'deny' }, links: [] };
}

function permissionIn(text: string, name: string, place: Place): Permission {
  try {
    return permissionOf({ ...splitPermission(text), name }, place);
  } catch (error) {
    if (!(error instanceof PermissionFault)) throw error;
    throw refusal('invalid-query', { parameter: 'permission', reason: error.message });
  }
}

type Place = Pick<Input, 'namespace' | 'partition'>;

/** @throws RosterError `invalid-body` with every question that asks for what there is not */
function askedOf({ body, namespace, partition }: { body: AuthorizeBody } & Place): Permission[] {
  const most = limits.acl.questionsMax;
  const faults: Fault[] = [];
  const report = (path: Path, message: string) => faults.push(faultAt(path, message));
  if (body.length > most) {
    report(null, `must hold at most ${most} questions, got ${body.length}`);
    throw invalid('invalid-body', faults);
  }
  const permissions = body.map((question, key) => {
    const { Resource = '', Segment = '', Access = '', Namespace, Partition } = question;
    const place = { namespace: Namespace || namespace, partition: Partition || partition };
    try {
      return permissionOf({ resource: Resource, access: Access, name: Segment }, place);
    } catch (error) {
      if (!(error instanceof PermissionFault)) throw error;
      report({ parent: null, key }, error.message);
      return open;
    }
  });
  if (faults.length > 0) throw invalid('invalid-body', faults);
  return permissions;
}
