import type { DefaultPolicy } from '../../acl/authorizer.ts';
import type { Policy } from '../../acl/grants.ts';
import { type PolicyChange, type PolicySet, policyChanges } from '../../acl/policy-diff.ts';
import { parseRules } from '../../language/rules/parse.ts';
import type { Rule } from '../../language/rules/rule.ts';
import type {
  AclPolicy,
  Answer,
  Client,
  ListOptions,
  PresentedAclToken,
} from '../../sdk/client.ts';
import { isMissing } from '../../sdk/client.ts';

export interface TokenChange
  extends Pick<PresentedAclToken, 'AccessorID' | 'Namespace' | 'Description'> {
  readonly Changes: readonly PolicyChange[];
}

/**
 * The effect of new rules for a stored policy on every token that has the policy, in every namespace.
 * Tokens without a change are left out, and tokens that were deleted meanwhile.
 */
export async function tokenChanges(
  client: Client,
  stored: AclPolicy,
  rules: readonly Rule[],
): Promise<TokenChange[]> {
  const tokens = await tokensWith(client, stored.ID);
  // Thousands of tokens have a few combinations of links: each combination is requested once.
  const known = new Map<string, readonly PolicyChange[] | undefined>();
  const found: TokenChange[] = [];
  for (const token of tokens) {
    const kind = kindOf(token);
    if (known.get(kind) === undefined)
      known.set(kind, await changesOf(client, token, stored, rules));
    const Changes = known.get(kind) ?? [];
    const { AccessorID, Namespace, Description } = token;
    if (Changes.length > 0) found.push({ AccessorID, Namespace, Description, Changes });
  }
  return found;
}

export const rulesOf = ({ ID, Name, Namespace, Partition, Rules }: AclPolicy): Policy => ({
  ID,
  Name,
  rules: parseRules(Rules).rules,
  Namespace: Namespace || 'default',
  Partition: Partition || 'default',
});

const everywhere = { namespace: '*' };

/** The tokens that have the policy by a link, by a role, or by the defaults of their namespace. */
async function tokensWith({ acl, namespaces }: Client, policy: string) {
  const found = new Map<string, PresentedAclToken>();
  const add = async (options: Parameters<typeof acl.tokens.list>[0]) => {
    for await (const token of pages((page) => acl.tokens.list({ ...options, ...page }))) {
      found.set(token.AccessorID, token);
    }
  };
  await add({ ...everywhere, policy });
  const roles = new Set<string>();
  for await (const { ID } of pages((page) => acl.roles.list({ ...everywhere, policy, ...page }))) {
    roles.add(ID);
  }
  for (const role of roles) await add({ ...everywhere, role });
  for await (const { Name, ACLs } of pages((page) => namespaces.list(page))) {
    const gives =
      ACLs?.PolicyDefaults.some(({ ID }) => ID === policy) ||
      ACLs?.RoleDefaults.some(({ ID }) => roles.has(ID));
    if (gives) await add({ namespace: Name });
  }
  return [...found.values()].sort((left, right) => (left.AccessorID < right.AccessorID ? -1 : 1));
}

const rowsPerPage = 1000;

async function* pages<R>(
  list: (page: ListOptions) => Promise<Answer<readonly R[]>>,
): AsyncGenerator<R> {
  let nextToken: string | undefined;
  do {
    const answer = await list({ perPage: rowsPerPage, nextToken });
    yield* answer.value;
    nextToken = answer.nextToken;
  } while (nextToken !== undefined);
}

const kindOf = (token: PresentedAclToken): string =>
  JSON.stringify([
    token.Namespace,
    token.Partition,
    token.Policies,
    token.Roles,
    token.TemplatedPolicies,
    token.ServiceIdentities,
    token.NodeIdentities,
  ]);

/** `undefined` if the token was deleted: then another token with the same links is read. */
async function changesOf(
  { acl }: Client,
  { AccessorID, Namespace }: PresentedAclToken,
  stored: AclPolicy,
  rules: readonly Rule[],
): Promise<PolicyChange[] | undefined> {
  const options = { expanded: true, ...(Namespace && { namespace: Namespace }) };
  try {
    const { value } = await acl.tokens.read(AccessorID, options);
    const before = policySetOf(value);
    const changed = (policy: Policy): Policy =>
      policy.ID === stored.ID ? { ...policy, rules } : policy;
    const after = {
      policies: before.policies.map(changed),
      defaults: before.defaults?.map(changed) ?? [],
    };
    return policyChanges(before, after, value.AgentACLDefaultPolicy as DefaultPolicy | undefined);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

type Expanded = Awaited<ReturnType<Client['acl']['tokens']['read']>>['value'];

/** The defaults of the namespace apply only where the token's own policies have no rule. */
function policySetOf(token: Expanded): PolicySet {
  const { ExpandedPolicies, ExpandedRoles, NamespaceDefaultPolicies, NamespaceDefaultRoles } =
    token;
  const linked = (
    policies: readonly { readonly ID: string }[],
    roles: readonly { readonly ID: string }[],
  ): ReadonlySet<string> => {
    const ids = new Set(roles.map(({ ID }) => ID));
    const through = (ExpandedRoles ?? []).filter(({ ID }) => ids.has(ID));
    return new Set(
      [...policies, ...through.flatMap(({ Policies }) => Policies)].map(({ ID }) => ID),
    );
  };
  const own = linked(token.Policies ?? [], token.Roles ?? []);
  const given = linked(NamespaceDefaultPolicies ?? [], NamespaceDefaultRoles ?? []);
  const isDefault = ({ ID }: AclPolicy) => given.has(ID) && !own.has(ID);
  const all = ExpandedPolicies ?? [];
  return {
    policies: all.filter((policy) => !isDefault(policy)).map(rulesOf),
    defaults: all.filter(isDefault).map(rulesOf),
  };
}
