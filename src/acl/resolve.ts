import type { Clock, Secrets } from '../base/ports.ts';
import type { SecretBox } from '../base/secret-box.ts';
import { anonymousAccessorId, isExpired, isManagement } from '../model/acl-token/acl-token.ts';
import { refusal } from '../model/errors.ts';
import { aclTokens, nodes } from '../state/tables.ts';
import type { Snapshot } from '../state/types.ts';
import { type Authorizer, authorizerFor, type Caller } from './authorizer.ts';

export interface ResolveOptions {
  /** Access control is on and denies by default (DESIGN §5 "First token"). */
  readonly enabled: boolean;
  /** What a new node has to show, as a hash; `undefined`: no node may join. */
  readonly introductionHash: string | undefined;
  readonly secrets: Pick<Secrets, 'hash' | 'equal'>;
  readonly box: Pick<SecretBox, 'fingerprint'>;
  /** An expired token is dead at once, whether or not its row is still there. */
  readonly clock: Pick<Clock, 'nowMs'>;
}

/**
 * Who presents this secret. No secret is the anonymous token; a secret that nobody has is
 * `token-not-found` (403). Source: DESIGN §5 "Token", "Anonymous", "Denied".
 */
export function resolveSecret(
  options: ResolveOptions,
  snapshot: Snapshot,
  secret: string | undefined,
): Authorizer {
  return authorizerFor(callerOf(options, snapshot, secret));
}

function callerOf(
  { enabled, introductionHash, secrets, box, clock }: ResolveOptions,
  snapshot: Snapshot,
  secret: string | undefined,
): Caller {
  const anonymous: Caller = enabled
    ? { kind: 'anonymous', accessor: anonymousAccessorId }
    : { kind: 'unrestricted' };
  if (secret === undefined) return anonymous;
  const hash = secrets.hash(secret);
  for (const token of snapshot
    .table(aclTokens)
    .by('secret')
    .scan({ prefix: [box.fingerprint(secret)] })) {
    if (!enabled) return anonymous;
    if (isExpired(token, clock.nowMs())) break;
    const { AccessorID: accessor, Namespace: namespace, Partition: partition } = token;
    return { kind: 'token', accessor, namespace, partition, management: isManagement(token) };
  }
  for (const node of snapshot
    .table(nodes)
    .by('secret')
    .scan({ prefix: [hash] })) {
    return { kind: 'node', nodeId: node.ID };
  }
  if (introductionHash !== undefined && secrets.equal(hash, introductionHash)) {
    return { kind: 'introduction' };
  }
  if (!enabled) return anonymous;
  throw refusal('token-not-found');
}
