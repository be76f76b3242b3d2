import { explain } from '../../acl/explain.ts';
import { subjectOf } from '../../acl/policy-test.ts';
import { triedLinks, triedSubject } from '../../acl/policy-try.ts';
import type { Resolver } from '../../acl/resolve.ts';
import { each } from '../../base/steps.ts';
import { aclDecisionEndpoints as contract } from '../../contract/acl-decision.ts';
import type { AclPolicy } from '../../model/acl-policy/acl-policy.ts';
import { rulesFaults } from '../../model/acl-policy/write.ts';
import { type Fault, invalid, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Scope } from '../../model/namespace/namespace.ts';
import { open, type Permission } from '../../model/permission/permission.ts';
import {
  PermissionFault,
  permissionOf,
  splitPermission,
} from '../../model/permission/permission-words.ts';
import { aclPolicies, inScope } from '../../state/tables.ts';
import type { BaseInput, Route } from '../route.ts';
import { type InputOf, serveSteps } from '../serve.ts';

type Given = InputOf<typeof contract.tryPolicy>;

/** Source: docs/behaviour/access-control.md#a-policy-that-is-tried. */
export function aclPolicyTryRoutes(resolver: Resolver): Route[] {
  const tokenIn = ({ body: { AccessorID: accessor = '' }, unwatched }: Given) =>
    // NUL separates the parts of a key in the state.
    accessor === '' || accessor.includes('\0')
      ? undefined
      : resolver.tokenOf(unwatched, accessor.toLowerCase());
  return serveSteps(
    contract.tryPolicy,
    function* (input) {
      const permissions = checked(input);
      const accessor = input.body.AccessorID ?? '';
      const token = tokenIn(input);
      if (accessor !== '' && token === undefined) throw refusal('accessor-not-found', { accessor });
      const policy = triedPolicy(input);
      const now = token && resolver.authorizerOf(input.snapshot, token);
      const { defaultPolicy } = resolver;
      const links = triedLinks(token ? resolver.linksOf(input.snapshot, token) : [], policy);
      const subject = triedSubject(now ?? subjectOf([], defaultPolicy), links);
      const Decisions: ReturnType<typeof decisionOf>[] = [];
      const decisionOf = (permission: Permission) => {
        const { Parts: _, ...decision } = explain(subject, permission, links);
        return { ...decision, Before: now === undefined ? null : now.allows(permission) };
      };
      yield* each(permissions, (permission) => Decisions.push(decisionOf(permission)));
      return { Decisions };
    },
    { found: tokenIn },
  );
}

/** The policy as it would be stored. @throws RosterError `policy-not-found` */
function triedPolicy({ body, snapshot, namespace, partition }: Given): AclPolicy {
  const fresh = {
    ID: 'tried',
    Name: 'the policy that is tried',
    Description: '',
    Datacenters: null,
    JobACL: null,
    Hash: '',
    Namespace: namespace,
    Partition: partition,
    CreateIndex: 0,
    ModifyIndex: 0,
  };
  const id = body.PolicyID ?? '';
  const stored = id === '' ? fresh : storedPolicy({ snapshot, namespace, partition }, id);
  return { ...stored, Rules: body.Rules ?? '' };
}

function storedPolicy(
  { snapshot, namespace, partition }: Pick<BaseInput, 'snapshot'> & Scope,
  id: string,
): AclPolicy {
  const isId = !id.includes('\0');
  const key = inScope({ namespace, partition }, id.toLowerCase());
  const found = isId ? snapshot.table(aclPolicies).get(...key) : undefined;
  if (found === undefined) throw refusal('policy-not-found', { policy: id, namespace });
  return found;
}

/** @throws RosterError `invalid-body` with all faults of the rules and of the questions */
function checked({ body, namespace, partition }: Given): readonly Permission[] {
  const { Rules = '', Questions = [] } = body;
  const faults: Fault[] = [...rulesFaults(Rules)];
  const most = limits.acl.questionsMax;
  if (Questions.length > most) {
    const message = `must hold at most ${most} questions, got ${Questions.length}`;
    throw invalid('invalid-body', [...faults, { pointer: '/Questions', message }]);
  }
  const permissions = Questions.map(({ Permission = '', Name = '', Namespace, Partition }, at) => {
    const place = { namespace: Namespace || namespace, partition: Partition || partition };
    try {
      return permissionOf({ ...splitPermission(Permission), name: Name }, place);
    } catch (error) {
      if (!(error instanceof PermissionFault)) throw error;
      faults.push({ pointer: `/Questions/${at}/Permission`, message: error.message });
      return open;
    }
  });
  if (faults.length > 0) throw invalid('invalid-body', faults);
  return permissions;
}
