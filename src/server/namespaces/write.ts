import { occupiesNode } from '../../model/allocation/allocation-rules.ts';
import { refusal } from '../../model/errors.ts';
import {
  defaultNamespace,
  defaultPartition,
  type Namespace,
} from '../../model/namespace/namespace.ts';
import { checkedNamespace, type NamespaceRequest } from '../../model/namespace/write.ts';
import {
  aclPolicies,
  aclRoles,
  aclTokens,
  allocations,
  authMethods,
  bindingRules,
  configEntries,
  jobPolicies,
  jobs,
  namespaces,
  partitions,
  variables,
} from '../../state/tables.ts';
import type { Snapshot, Stamps, TableDefinition, Written } from '../../state/types.ts';
import { type Linker, LinkResolver } from '../acl/links.ts';
import { requireSameName } from '../checks.ts';
import type { ServerContext } from '../context.ts';

/**
 * Makes a namespace or replaces its fields. `pathName` is empty if the path names none.
 * @throws RosterError `id-mismatch`, `invalid-body`, `partition-not-found`
 */
export async function writeNamespace(
  { state }: ServerContext,
  { partition, pathName }: { readonly partition: string; readonly pathName: string },
  request: NamespaceRequest,
  linker: Linker,
): Promise<Written<Namespace>> {
  requireSameName('namespace', request.Name, pathName);
  const given = checkedNamespace({ ...request, Name: request.Name || pathName });
  return state.write((transaction) => {
    if (!transaction.table(partitions).has(partition)) {
      throw refusal('partition-not-found', { partition });
    }
    const stored = transaction.table(namespaces).get(partition, given.Name)?.ACLs;
    const kept = [...(stored?.PolicyDefaults ?? []), ...(stored?.RoleDefaults ?? [])];
    const scope = { partition, namespace: given.Name };
    const resolver = new LinkResolver(transaction, scope, linker, kept);
    const named = (links: readonly { ID: string }[]) => links.map(({ ID }) => ({ ID, Name: '' }));
    const ACLs = given.ACLs && {
      PolicyDefaults: named(
        resolver.policies(given.ACLs.PolicyDefaults, ['ACLs', 'PolicyDefaults']),
      ),
      RoleDefaults: named(resolver.roles(given.ACLs.RoleDefaults, ['ACLs', 'RoleDefaults'])),
    };
    resolver.check();
    const { Name, Description, Meta, Capabilities } = given;
    const row = { Name, Description, Meta, Capabilities, ACLs, Partition: partition };
    return transaction.table(namespaces).put(row);
  });
}

/**
 * `false`: there was no such namespace. A namespace has to be empty.
 * @throws RosterError `builtin-protected`, `in-use`
 */
export async function deleteNamespace(
  { state }: ServerContext,
  partition: string,
  name: string,
): Promise<Written<boolean>> {
  if (name === defaultNamespace) {
    const reason = 'it cannot be deleted';
    throw refusal('builtin-protected', { noun: 'namespace', name, reason });
  }
  return state.write((transaction) => {
    if (!transaction.table(namespaces).has(partition, name)) return false;
    const content = contentOf(transaction, [partition, name]);
    if (content !== undefined) {
      throw refusal('in-use', { noun: 'namespace', name, reason: `it still has ${content}` });
    }
    return transaction.table(namespaces).delete(partition, name);
  });
}

/**
 * The tables whose records live in namespaces, with the names of their records. Records of a job
 * (versions, evaluations, ended allocations) go with the job and do not count.
 */
const inhabitants = [
  [jobs, 'jobs'],
  [aclTokens, 'tokens'],
  [aclRoles, 'roles'],
  [aclPolicies, 'policies'],
  [authMethods, 'auth methods'],
  [bindingRules, 'binding rules'],
  [variables, 'variables'],
  [configEntries, 'configuration entries'],
] as unknown as readonly (readonly [TableDefinition<Stamps>, string])[];

/** The kinds of records in the scope, in words: `jobs and tokens`. */
export function contentOf(snapshot: Snapshot, prefix: readonly string[]): string | undefined {
  const found = inhabitants.flatMap(([table, name]) => {
    const isEmpty = snapshot.table(table).scan({ prefix }).next().done;
    return isEmpty ? [] : [name];
  });
  if (hasJobPolicies(snapshot, prefix)) found.push('job policies');
  if (hasRunning(snapshot, prefix)) found.push('running allocations');
  return found.length === 0 ? undefined : found.join(' and ');
}

/**
 * Job policies live in no namespace but may concern one: without it they would silently apply
 * nowhere.
 */
function hasJobPolicies(snapshot: Snapshot, [partition, namespace]: readonly string[]): boolean {
  if (partition !== defaultPartition || namespace === undefined) return false;
  const range = { prefix: [namespace] };
  return !snapshot.table(jobPolicies).by('namespace').scan(range).next().done;
}

/** A purged job may have allocations that have not ended. */
function hasRunning(snapshot: Snapshot, prefix: readonly string[]): boolean {
  for (const allocation of snapshot.table(allocations).scan({ prefix })) {
    if (occupiesNode(allocation)) return true;
  }
  return false;
}
