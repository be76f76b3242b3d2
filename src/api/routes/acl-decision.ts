import type { Subject } from '../../acl/authorizer.ts';
import { explain } from '../../acl/explain.ts';
import type { Linked } from '../../acl/links.ts';
import type { Resolver } from '../../acl/resolve.ts';
import { aclDecisionEndpoints as contract, ownAccessor } from '../../contract/acl-decision.ts';
import type { BodyOf } from '../../contract/endpoint.ts';
import type { AclToken } from '../../model/acl-token/acl-token.ts';
import { type Fault, invalid, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Scope } from '../../model/namespace/namespace.ts';
import { faultAt, type Path } from '../../model/path.ts';
import { open, type Permission } from '../../model/permission/permission.ts';
import {
  PermissionFault,
  permissionOf,
  splitPermission,
} from '../../model/permission/permission-words.ts';
import type { Snapshot } from '../../state/types.ts';
import type { Denials } from '../denials.ts';
import type { Route } from '../route.ts';
import { serveRead, serveWrite } from '../serve.ts';
import { aclDenialRoutes } from './acl-denial.ts';
import { aclPolicyTryRoutes } from './acl-policy-try.ts';

type AuthorizeBody = BodyOf<typeof contract.authorize>;

/** Source: docs/behaviour/access-control.md#asking-what-a-token-may-do. */
export function aclDecisionRoutes(resolver: Resolver, denials: Denials): Route[] {
  return [
    ...aclPolicyTryRoutes(resolver),
    ...aclDenialRoutes(denials),
    ...serveWrite(contract.authorize, async (input) => {
      const permissions = askedOf(input);
      const value = input.body.map((question, at) => ({
        ...question,
        Allow: input.allows(permissions[at]!),
      }));
      return { value };
    }),
    ...serveRead(
      contract.explain,
      ({ query, caller, snapshot, namespace, partition }) => {
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
      { found: ({ query, unwatched }) => resolver.tokenOf(unwatched, query.accessor) },
    ),
  ];
}

/** The subject of the decision, with its policies. */
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

function permissionIn(text: string, name: string, place: Scope): Permission {
  try {
    return permissionOf({ ...splitPermission(text), name }, place);
  } catch (error) {
    if (!(error instanceof PermissionFault)) throw error;
    throw refusal('invalid-query', { parameter: 'permission', reason: error.message });
  }
}

/** @throws RosterError `invalid-body` for all questions about unknown permissions */
function askedOf({ body, namespace, partition }: { body: AuthorizeBody } & Scope): Permission[] {
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
