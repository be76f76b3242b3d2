import type { Clock, Secrets } from '../base/ports.ts';
import { claimsIn, readToken } from '../base/signed-token.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import { occupiesNode } from '../model/allocation/allocation-rules.ts';
import { limits } from '../model/limits.ts';
import type { Caller } from '../model/permission/caller.ts';
import { areCurrent, type WorkloadClaims } from '../model/workload/claims.ts';
import { allocations, keyringKeys } from '../state/tables.ts';
import type { Snapshot } from '../state/types.ts';
import { type Authorizer, authorizerFor, type DefaultPolicy } from './authorizer.ts';
import { type Linked, linksVersion } from './links.ts';
import { RuleTable } from './rule-table.ts';
import { parsedPolicy } from './token-rules.ts';
import { workloadLinks, workloadPolicy } from './workload-policy.ts';

export type WorkloadCaller = Extract<Caller, { kind: 'workload' }>;

export interface WorkloadOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly secrets: Pick<Secrets, 'hash'>;
  readonly defaultPolicy: DefaultPolicy;
  readonly datacenter: string;
}

interface Verified {
  readonly keyId: string;
  readonly claims: WorkloadClaims;
}

/**
 * Finds the workload of a signed token.
 *
 * Invariants
 *  V1. A token is valid while its signing key is in the keyring, its audience is this API, its time
 *      is not over, and its allocation has not ended. All of this is checked at every request; only
 *      the verified claims are cached.
 *  V2. The cache is bounded and holds verified tokens only. A forged token costs a signature check
 *      each time, and only if it names an existing key.
 *  V3. The permissions of a workload depend on its namespace, job, group and task, and on the
 *      policies attached to these. They are compiled again when policies change.
 */
export class Workloads {
  readonly #options: WorkloadOptions;
  readonly #verified = new Map<string, Verified>();
  readonly #tables = new Map<string, { readonly version: string; readonly table: RuleTable }>();

  constructor(options: WorkloadOptions) {
    this.#options = options;
  }

  /** `undefined`: the token is not valid. */
  resolve(snapshot: Snapshot, token: string): Authorizer | undefined {
    const claims = this.#claimsOf(snapshot, token);
    if (claims === undefined || !areCurrent(claims, this.#options.clock.nowMs())) return undefined;
    const allocation = allocationOf(snapshot, claims.roster_allocation_id);
    if (allocation === undefined || !occupiesNode(allocation)) return undefined;
    return this.authorizerOf(snapshot, callerOf(claims));
  }

  authorizerOf(snapshot: Snapshot, caller: WorkloadCaller): Authorizer {
    const { defaultPolicy } = this.#options;
    return authorizerFor({ caller, rules: this.#tableOf(snapshot, caller), defaultPolicy });
  }

  linksOf(snapshot: Snapshot, caller: WorkloadCaller): readonly Linked[] {
    return workloadLinks(snapshot, caller, this.#options.datacenter);
  }

  #claimsOf(snapshot: Snapshot, text: string): WorkloadClaims | undefined {
    if (text.length > limits.identity.tokenLengthMax) return undefined;
    const hash = this.#options.secrets.hash(text);
    const known = this.#verified.get(hash);
    if (known !== undefined) {
      return snapshot.table(keyringKeys).has(known.keyId) ? known.claims : undefined;
    }
    const token = readToken(text);
    if (token === undefined || token.keyId.includes('\0')) return undefined;
    const key = snapshot.table(keyringKeys).get(token.keyId);
    if (key?.PublicKey === undefined) return undefined;
    const claims = claimsIn(token, key.PublicKey) as WorkloadClaims | undefined;
    if (claims === undefined) return undefined;
    keep(this.#verified, hash, { keyId: token.keyId, claims });
    return claims;
  }

  #tableOf(snapshot: Snapshot, caller: WorkloadCaller): RuleTable {
    const { namespace, job, group, task } = caller;
    const key = [namespace, job, group, task].join('\0');
    const version = linksVersion(snapshot);
    const known = this.#tables.get(key);
    if (known?.version === version) return known.table;
    const attached = this.linksOf(snapshot, caller).filter(
      (link) => !link.synthetic && !link.elsewhere,
    );
    const policies = attached.map(({ policy }) => parsedPolicy(policy));
    const table = new RuleTable([workloadPolicy({ namespace, job, group, task }), ...policies]);
    keep(this.#tables, key, { version, table });
    return table;
  }
}

function callerOf(claims: WorkloadClaims): WorkloadCaller {
  return {
    kind: 'workload',
    namespace: claims.roster_namespace,
    job: claims.roster_job_id,
    group: claims.roster_group,
    task: claims.roster_task,
    allocation: claims.roster_allocation_id,
  };
}

function allocationOf(snapshot: Snapshot, id: string): Allocation | undefined {
  const [found] = snapshot
    .table(allocations)
    .by('id')
    .scan({ prefix: [id] });
  return found;
}

function keep<V>(map: Map<string, V>, key: string, value: V): void {
  if (map.size >= limits.identity.verifiedMax) map.delete(map.keys().next().value as string);
  map.set(key, value);
}
