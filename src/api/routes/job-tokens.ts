import type { Authorizer } from '../../acl/authorizer.ts';
import type { Resolver } from '../../acl/resolve.ts';
import { RosterError, refusal } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import { describeCaller } from '../../model/permission/caller.ts';
import {
  describePermission,
  namedAccess,
  type Permission,
} from '../../model/permission/permission.ts';
import type { Snapshot } from '../../state/types.ts';

export type JobTokens = Pick<Resolver, 'resolve' | 'tokenOf' | 'linksOf'>;

/** The tokens of a submission, which are checked and not stored. */
interface Given {
  readonly RegistryToken?: string | null | undefined;
  readonly SecretsToken?: string | null | undefined;
}

/**
 * Checks the tokens of a submission: the registry token against the job's services, the secrets
 * token against the policies in its tasks. Absent tokens are not checked.
 * Source: docs/contract/jobs.md#tokens-of-a-submission.
 * @throws RosterError `job-token-not-found`, `permission-denied`
 */
export function demandTokens(tokens: JobTokens, snapshot: Snapshot, given: Given, job: Job): void {
  if (given.RegistryToken) {
    const authorizer = resolved(tokens, snapshot, 'RegistryToken', given.RegistryToken);
    for (const name of serviceNames(job)) {
      const permission = mayRegister(name, job.Namespace);
      if (!authorizer.allows(permission)) deny(authorizer, describePermission(permission));
    }
  }
  if (given.SecretsToken) {
    const authorizer = resolved(tokens, snapshot, 'SecretsToken', given.SecretsToken);
    const has = policiesOf(tokens, snapshot, authorizer);
    for (const name of policyNames(job)) {
      if (!has(name)) deny(authorizer, `policy "${name}"`);
    }
  }
}

function resolved(
  tokens: JobTokens,
  snapshot: Snapshot,
  field: keyof Given,
  secret: string,
): Authorizer {
  try {
    return tokens.resolve(snapshot, secret, undefined);
  } catch (error) {
    if (!(error instanceof RosterError) || error.code !== 'token-not-found') throw error;
    throw refusal('job-token-not-found', { field });
  }
}

function serviceNames({ TaskGroups }: Job): ReadonlySet<string> {
  const services = TaskGroups.flatMap((group) => [
    ...(group.Services ?? []),
    ...group.Tasks.flatMap((task) => task.Services ?? []),
  ]);
  return new Set(services.map(({ Name }) => Name));
}

/**
 * Names with variables are known only when the task runs, so every name with this beginning is
 * needed.
 */
function mayRegister(name: string, namespace: string): Permission {
  const [known = ''] = name.split('${', 1);
  const extent = known === name ? 'one' : 'under';
  return namedAccess('service', 'write', known, { namespace, extent });
}

const policyNames = ({ TaskGroups }: Job): ReadonlySet<string> =>
  new Set(
    TaskGroups.flatMap(({ Tasks }) => Tasks).flatMap(({ Secrets }) => Secrets?.Policies ?? []),
  );

function policiesOf(
  tokens: JobTokens,
  snapshot: Snapshot,
  { caller }: Authorizer,
): (name: string) => boolean {
  if (caller.kind === 'unrestricted' || (caller.kind === 'token' && caller.management)) {
    return () => true;
  }
  const token = caller.kind === 'token' ? tokens.tokenOf(snapshot, caller.accessor) : undefined;
  const linked = token === undefined ? [] : tokens.linksOf(snapshot, token);
  const counting = linked.filter(({ elsewhere, synthetic }) => !elsewhere && !synthetic);
  const names = new Set(counting.map(({ policy }) => policy.Name));
  return (name) => names.has(name);
}

function deny({ caller }: Authorizer, permission: string): never {
  throw refusal('permission-denied', { caller: describeCaller(caller), permission });
}
