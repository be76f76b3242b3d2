import type { Clock, Secrets } from '../base/ports.ts';
import type { SecretBox } from '../base/secret-box.ts';
import { looksSigned } from '../base/signed-token.ts';
import { type AclToken, anonymousAccessorId, isExpired } from '../model/acl-token/acl-token.ts';
import { refusal } from '../model/errors.ts';
import { isOver } from '../model/introduction-token/introduction-token.ts';
import type { Caller } from '../model/permission/caller.ts';
import { aclTokens, introductionTokens, nodes } from '../state/tables.ts';
import type { Snapshot } from '../state/types.ts';
import { type Authorizer, authorizerFor, type DefaultPolicy } from './authorizer.ts';
import { limits } from './limits.ts';
import type { Linked } from './links.ts';
import { type TokenRules, TokenRulesCache } from './token-rules.ts';
import { type WorkloadCaller, Workloads } from './workloads.ts';

export interface ResolveOptions {
  /** Access control is on (docs/contract/http.md#the-first-token). */
  readonly enabled: boolean;
  /** The decision where no rule applies; by default `deny`. */
  readonly defaultPolicy?: DefaultPolicy;
  /** Policies limited to other datacenters have no effect here. */
  readonly datacenter?: string;
  readonly secrets: Pick<Secrets, 'hash'>;
  readonly box: Pick<SecretBox, 'fingerprint'>;
  /** Expired tokens are refused at once, even while their row exists. */
  readonly clock: Pick<Clock, 'nowMs'>;
}

const unrestricted: Authorizer = authorizerFor({
  caller: { kind: 'unrestricted' },
  rules: undefined,
  defaultPolicy: 'deny',
});

/** A secret without a signature. */
interface Shown {
  readonly secret: string;
  readonly fingerprint: string;
}

/** A caller found by its secret. */
interface Known {
  readonly token: AclToken;
  readonly authorizer: Authorizer;
}

/** How the secrets were found that requests showed. */
export interface ResolvedCounts {
  /** Tokens that were known from the last request. */
  hits: number;
  /** Tokens that were looked up in the state. */
  misses: number;
  /** Unknown or expired secrets. */
  refused: number;
}

/** The key for callers without a secret. */
const noSecret = '';

/** Finds the caller behind a secret, and its permissions. */
export class Resolver {
  readonly #options: ResolveOptions;
  readonly #rules: TokenRulesCache;
  readonly #workloads: Workloads;
  /** The last authorizer of each token row, with the rules it was made from. */
  readonly #made = new WeakMap<AclToken, { rules: TokenRules; authorizer: Authorizer }>();
  /** The last secret of each connection. */
  #shown = new WeakMap<object, Shown>();
  /**
   * The callers found in the newest snapshot, by fingerprint. Between two commits only the time
   * changes decisions. Older snapshots are not kept.
   */
  readonly #known = new Map<string, Known>();
  #knownIn: Snapshot | undefined;
  readonly counts: ResolvedCounts = { hits: 0, misses: 0, refused: 0 };

  constructor(options: ResolveOptions) {
    this.#options = options;
    const { clock, secrets, datacenter = 'dc1' } = options;
    const { defaultPolicy } = this;
    this.#rules = new TokenRulesCache(datacenter);
    this.#workloads = new Workloads({ clock, secrets, defaultPolicy, datacenter });
  }

  /** Forgets the fingerprints, as the state was restored with another key for them. */
  forgetFingerprints(): void {
    this.#shown = new WeakMap();
  }

  get enabled(): boolean {
    return this.#options.enabled;
  }

  get defaultPolicy(): DefaultPolicy {
    return this.#options.defaultPolicy ?? 'deny';
  }

  /**
   * The caller behind a secret: a token, a node, a node's introduction or, by a signature, a
   * workload. No secret means the anonymous token. An unknown or expired secret is refused with
   * `token-not-found` (403). Source: docs/contract/http.md#the-token, #the-order-of-the-checks.
   */
  resolve(snapshot: Snapshot, secret: string | undefined, connection?: object): Authorizer {
    const { enabled, secrets, clock } = this.#options;
    if (secret === undefined) return enabled ? this.#anonymous(snapshot) : unrestricted;
    const fingerprint = this.#fingerprint(secret, connection);
    if (fingerprint === undefined) return this.#workload(snapshot, secret);
    const known = this.#findToken(snapshot, fingerprint, 'secret', fingerprint);
    if (known !== undefined && !this.#isDead(known.token)) {
      return enabled ? known.authorizer : unrestricted;
    }
    const hash = secrets.hash(secret);
    const node = snapshot
      .table(nodes)
      .by('secret')
      .find({ prefix: [hash] });
    if (node !== undefined) return this.#ruleless({ kind: 'node', nodeId: node.ID });
    const introduction = snapshot
      .table(introductionTokens)
      .by('secret')
      .find({ prefix: [hash] });
    if (introduction !== undefined && !isOver(introduction, clock.nowMs())) {
      return this.#ruleless({ kind: 'introduction', id: introduction.ID });
    }
    if (!enabled) return unrestricted;
    this.counts.refused++;
    throw refusal('token-not-found');
  }

  /**
   * Most connections send the same secret again. The secret is compared only with the last one of
   * the same connection, so the time it takes reveals nothing about other callers.
   * @returns `undefined` for a secret that a signature proves
   */
  #fingerprint(secret: string, connection: object | undefined): string | undefined {
    const shown = connection && this.#shown.get(connection);
    if (shown?.secret === secret) return shown.fingerprint;
    if (looksSigned(secret)) return undefined;
    const fingerprint = this.#options.box.fingerprint(secret);
    if (connection !== undefined) this.#shown.set(connection, { secret, fingerprint });
    return fingerprint;
  }

  #findToken(
    snapshot: Snapshot,
    fingerprint: string,
    index: 'secret' | 'accessor',
    part: string,
  ): Known | undefined {
    if (this.#knownIn !== snapshot || this.#known.size >= limits.knownTokensMax) {
      this.#known.clear();
      this.#knownIn = snapshot;
    }
    const known = this.#known.get(fingerprint);
    if (known !== undefined) {
      this.counts.hits++;
      return known;
    }
    const token = snapshot
      .table(aclTokens)
      .by(index)
      .find({ prefix: [part] });
    if (token === undefined) return undefined;
    this.counts.misses++;
    const found = { token, authorizer: this.authorizerOf(snapshot, token) };
    this.#known.set(fingerprint, found);
    return found;
  }

  #workload(snapshot: Snapshot, token: string): Authorizer {
    if (!this.enabled) return unrestricted;
    const authorizer = this.#workloads.resolve(snapshot, token);
    if (authorizer === undefined) {
      this.counts.refused++;
      throw refusal('token-not-found');
    }
    return authorizer;
  }

  /** The permissions of a workload, with its policies. */
  workloadOf(
    snapshot: Snapshot,
    caller: WorkloadCaller,
  ): { readonly authorizer: Authorizer; readonly links: readonly Linked[] } {
    const authorizer = this.#workloads.authorizerOf(snapshot, caller);
    return { authorizer, links: this.#workloads.linksOf(snapshot, caller) };
  }

  /** The permissions of a token, whoever asks about them. */
  authorizerOf(snapshot: Snapshot, token: AclToken): Authorizer {
    const rules = this.#rules.rulesOf(snapshot, token);
    const known = this.#made.get(token);
    if (known !== undefined && known.rules === rules) return known.authorizer;
    const { defaultPolicy } = this;
    const authorizer = authorizerFor({
      caller: callerOf(token, rules.management),
      rules: rules.table,
      defaultPolicy,
    });
    this.#made.set(token, { rules, authorizer });
    return authorizer;
  }

  /** The policies of a token, and how each is linked to the token. */
  linksOf(snapshot: Snapshot, token: AclToken): readonly Linked[] {
    return this.#rules.linksOf(snapshot, token);
  }

  /** The token with this accessor, unless it has expired. */
  tokenOf(snapshot: Snapshot, accessor: string): AclToken | undefined {
    const token = snapshot
      .table(aclTokens)
      .by('accessor')
      .find({ prefix: [accessor] });
    return token === undefined || this.#isDead(token) ? undefined : token;
  }

  #anonymous(snapshot: Snapshot): Authorizer {
    const known = this.#findToken(snapshot, noSecret, 'accessor', anonymousAccessorId);
    if (known !== undefined && !this.#isDead(known.token)) return known.authorizer;
    return this.#ruleless({ kind: 'anonymous', accessor: anonymousAccessorId });
  }

  #isDead(token: AclToken): boolean {
    return token.ExpirationTime !== 0 && isExpired(token, this.#options.clock.nowMs());
  }

  #ruleless(caller: Caller): Authorizer {
    return authorizerFor({ caller, rules: undefined, defaultPolicy: 'deny' });
  }
}

function callerOf(token: AclToken, management: boolean): Caller {
  const { AccessorID: accessor, Namespace: namespace, Partition: partition } = token;
  if (accessor === anonymousAccessorId) return { kind: 'anonymous', accessor };
  return { kind: 'token', accessor, namespace, partition, management };
}
