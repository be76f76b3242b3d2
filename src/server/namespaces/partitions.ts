import { builtinPoliciesOf } from '../../model/acl-policy/builtin.ts';
import { checkValues } from '../../model/check-values.ts';
import { complete } from '../../model/complete.ts';
import { invalid, refusal } from '../../model/errors.ts';
import { defaultNamespace, defaultPartition } from '../../model/namespace/namespace.ts';
import { scopeNameFaults } from '../../model/namespace/write.ts';
import { type Partition, PartitionSchema } from '../../model/partition/partition.ts';
import type { Input } from '../../model/schema.ts';
import { aclPolicies, inScope, namespaces, partitions, peerings } from '../../state/tables.ts';
import type { Written } from '../../state/types.ts';
import { seedPolicies } from '../acl/seed.ts';
import { requireSameName } from '../checks.ts';
import type { ServerContext } from '../context.ts';
import { contentOf } from './write.ts';

export type PartitionRequest = Input<Partition>;

/**
 * Makes a partition, with its namespace `default` and its builtin policies, or replaces its
 * description.
 * @throws RosterError `id-mismatch`, `invalid-body`
 */
export async function writePartition(
  { state }: ServerContext,
  pathName: string,
  request: PartitionRequest,
): Promise<Written<Partition>> {
  requireSameName('partition', request.Name, pathName);
  const given = { ...request, Name: request.Name || pathName };
  const { Name, Description } = complete(PartitionSchema, given);
  const faults = [...checkValues(PartitionSchema, given), ...scopeNameFaults(Name)];
  if (faults.length > 0) throw invalid('invalid-body', faults);
  return state.write((transaction) => {
    const spaces = transaction.table(namespaces);
    if (!spaces.has(Name, defaultNamespace)) {
      spaces.put({
        Name: defaultNamespace,
        Description: 'Default namespace',
        Partition: Name,
        Meta: null,
        Capabilities: null,
        ACLs: null,
      });
    }
    seedPolicies(transaction, Name);
    return transaction.table(partitions).put({ Name, Description });
  });
}

/**
 * `false`: there was no such partition. A partition has to be empty.
 * @throws RosterError `builtin-protected`, `in-use`
 */
export async function deletePartition(
  { state }: ServerContext,
  name: string,
): Promise<Written<boolean>> {
  if (name === defaultPartition) {
    const reason = 'it cannot be deleted';
    throw refusal('builtin-protected', { noun: 'partition', name, reason });
  }
  return state.write((transaction) => {
    if (!transaction.table(partitions).has(name)) return false;
    const spaces = transaction.table(namespaces);
    const home = { namespace: defaultNamespace, partition: name };
    for (const { ID } of builtinPoliciesOf(name)) {
      transaction.table(aclPolicies).delete(...inScope(home, ID));
    }
    const others = [...spaces.scan({ prefix: [name] })].filter(
      ({ Name }) => Name !== defaultNamespace,
    );
    const isPeered = !transaction
      .table(peerings)
      .scan({ prefix: [name] })
      .next().done;
    const content =
      others.length > 0
        ? 'namespaces'
        : (contentOf(transaction, [name]) ?? (isPeered ? 'peerings' : undefined));
    if (content !== undefined) {
      throw refusal('in-use', { noun: 'partition', name, reason: `it still has ${content}` });
    }
    spaces.delete(name, defaultNamespace);
    return transaction.table(partitions).delete(name);
  });
}
