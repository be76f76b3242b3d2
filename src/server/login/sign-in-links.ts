import { type AclToken, isExpired } from '../../model/acl-token/acl-token.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { aclTokens } from '../../state/tables.ts';
import type { Snapshot, Written } from '../../state/types.ts';
import { insertToken } from '../acl/tokens.ts';
import type { ServerContext } from '../context.ts';
import type { LoginGuard } from './attempts.ts';

interface Link {
  /** SHA-256 of its secret. */
  readonly hash: string;
  /** The accessor of the token whose holder made it. */
  readonly maker: string;
  readonly isLoopbackOnly: boolean;
  readonly madeMs: number;
  isUsed: boolean;
}

export interface MadeLink {
  readonly secret: string;
  /** Unix milliseconds. */
  readonly expireMs: number;
}

const { ageMs, tokenTtlMs, secretLengthMax, keptPerTokenMax, keptMax, rememberedMs } =
  limits.signInLink;

// Not in limits: the 128 bits of the secret of a link.
const secretBytes = 16;

/** Begins the description of each token that a link was exchanged for. */
const describedAs = 'web interface, link of ';

/**
 * Links that sign in to the web interface: a secret that a browser exchanges for a token.
 * Source: docs/behaviour/access-control.md#links-to-the-web-interface.
 *
 * Invariants
 *  I1. A link is exchanged once, within its age, for a new token. The secret of the token that made the link
 *      never leaves the server.
 *  I2. The new token has the rights of the token that made the link, as they are at the exchange, and expires
 *      with that token at the latest.
 *  I3. Only hashes of secrets are kept. Each attempt looks at all of them, in a time that does not depend on
 *      the secret.
 *  I4. A failed attempt counts against its address as a failed login does.
 */
export class SignInLinks {
  readonly #context: ServerContext;
  readonly #guard: LoginGuard;
  /** In the order of their making. */
  #links: Link[] = [];

  constructor(context: ServerContext, guard: LoginGuard) {
    this.#context = context;
    this.#guard = guard;
  }

  /** @param maker the accessor of the token of the caller */
  make(maker: string, isLoopbackOnly: boolean): MadeLink {
    const { clock, secrets } = this.#context.world;
    const nowMs = clock.monotonicMs();
    const secret = Buffer.from(secrets.bytes(secretBytes)).toString('base64url');
    this.#forgetOld(nowMs);
    const isOwn = (link: Link) => link.maker === maker;
    if (this.#links.filter(isOwn).length >= keptPerTokenMax) {
      this.#links.splice(this.#links.findIndex(isOwn), 1);
    }
    if (this.#links.length >= keptMax) this.#links.shift();
    const hash = secrets.hash(secret);
    this.#links.push({ hash, maker, isLoopbackOnly, madeMs: nowMs, isUsed: false });
    return { secret, expireMs: clock.nowMs() + ageMs };
  }

  /** @throws RosterError `sign-in-link-refused`, `too-many-logins` */
  use(
    secret: string,
    { address, isLoopback }: { readonly address: string; readonly isLoopback: boolean },
  ): Promise<Written<AclToken>> {
    return this.#guard.attempt(address, `${describedAs}${address}`, async () => {
      const link = this.#takeLink(secret, isLoopback);
      try {
        return await this.#exchange(link);
      } catch (error) {
        // Nobody has seen the secret of a token.
        link.isUsed = false;
        throw error;
      }
    });
  }

  /**
   * Deletes the token of a link or of a login.
   * @throws RosterError `not-logged-in`, `token-not-from-login`
   */
  signOut(accessor: string | undefined): Promise<Written<boolean>> {
    return this.#context.state.write((transaction) => {
      const token = accessor === undefined ? undefined : tokenOf(transaction, accessor);
      if (token === undefined) throw refusal('not-logged-in');
      const isOfLink = token.ExpirationTime !== 0 && token.Description.startsWith(describedAs);
      if (!isOfLink && token.AuthMethod === '') throw refusal('token-not-from-login');
      const { Partition, Namespace, AccessorID } = token;
      return transaction.table(aclTokens).delete(Partition, Namespace, AccessorID);
    });
  }

  /** The link, which is used from now on. @throws RosterError `sign-in-link-refused` */
  #takeLink(secret: string, isLoopback: boolean): Link {
    const { clock, secrets } = this.#context.world;
    const nowMs = clock.monotonicMs();
    this.#forgetOld(nowMs);
    const hash = secrets.hash(secret.slice(0, secretLengthMax));
    let found: Link | undefined;
    for (const link of this.#links) if (secrets.equal(link.hash, hash)) found = link;
    const refuse = (reason: string) => refusal('sign-in-link-refused', { reason });
    if (found === undefined) {
      throw refuse('it is wrong, or the server has begun anew since it was made; make another');
    }
    if (found.isUsed) throw refuse('it was used before, and a link is used once; make another');
    if (nowMs - found.madeMs >= ageMs) {
      throw refuse(`it is older than ${ageMs / 60_000} minutes; make another`);
    }
    if (found.isLoopbackOnly && !isLoopback) {
      throw refuse('it may be used on the machine of the server only');
    }
    found.isUsed = true;
    return found;
  }

  #exchange({ maker }: Link): Promise<Written<AclToken>> {
    const { state, world } = this.#context;
    return state.write((transaction) => {
      const nowMs = world.clock.nowMs();
      const source = tokenOf(transaction, maker);
      if (source === undefined || isExpired(source, nowMs)) {
        const reason = 'the token that made it is gone';
        throw refusal('sign-in-link-refused', { reason });
      }
      const { Policies, Roles, TemplatedPolicies, ServiceIdentities, NodeIdentities } = source;
      const { Local, AuthMethod, AuthMethodNamespace, ExpirationTime } = source;
      const place = { namespace: source.Namespace, partition: source.Partition };
      return insertToken(transaction, this.#context, place, {
        Description: `${describedAs}${maker}`,
        Policies,
        Roles,
        TemplatedPolicies,
        ServiceIdentities,
        NodeIdentities,
        Local,
        // A login's token ends with its auth method, and so does this one.
        AuthMethod,
        AuthMethodNamespace,
        CreateTime: nowMs,
        ExpirationTime: Math.min(nowMs + tokenTtlMs, ExpirationTime || Number.POSITIVE_INFINITY),
        accessor: '',
        secret: '',
      });
    });
  }

  #forgetOld(nowMs: number): void {
    this.#links = this.#links.filter(({ madeMs }) => nowMs - madeMs < rememberedMs);
  }
}

function tokenOf(snapshot: Snapshot, accessor: string): AclToken | undefined {
  for (const token of snapshot
    .table(aclTokens)
    .by('accessor')
    .scan({ prefix: [accessor] })) {
    return token;
  }
  return undefined;
}
