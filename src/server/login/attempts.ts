import type { Clock } from '../../base/ports.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { LoginLimitKind } from '../../model/login/login.ts';
import type { AttemptBounds, UsedUpLimits } from './used-up.ts';

interface Bucket {
  left: number;
  atMs: number;
}

export interface AttemptOptions extends AttemptBounds {
  readonly kind: LoginLimitKind;
  readonly clock: Clock;
  /** The notes of the leaders before this one. */
  readonly usedUp: UsedUpLimits;
}

/**
 * Limits attempts: a bucket for each name, refilled with time. Only the names that tried last are
 * kept.
 */
export class Attempts {
  readonly #options: AttemptOptions;
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: AttemptOptions) {
    this.#options = options;
  }

  /** `false`: no attempt is left, and the next leader will know. */
  async take(name: string): Promise<boolean> {
    const { kind, clock, usedUp, ...bounds } = this.#options;
    const { burst, refillMs } = bounds;
    const nowMs = clock.monotonicMs();
    const bucket = this.#buckets.get(name) ?? { left: burst, atMs: nowMs };
    const refilled = bucket.left + (nowMs - bucket.atMs) / refillMs;
    bucket.left = Math.min(burst, refilled, usedUp.leftOf(kind, name, bounds) ?? burst);
    bucket.atMs = nowMs;
    this.#keepBucket(name, bucket);
    if (bucket.left >= 1) {
      bucket.left--;
      return true;
    }
    await usedUp.note(kind, name, bounds);
    return false;
  }

  /** Gives back an attempt that was no guess. */
  giveBack(name: string): void {
    const bucket = this.#buckets.get(name);
    if (bucket !== undefined) bucket.left = Math.min(this.#options.burst, bucket.left + 1);
  }

  #keepBucket(name: string, bucket: Bucket): void {
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= limits.aclLogin.addressesKept) break;
      this.#buckets.delete(oldest);
    }
  }
}

/**
 * Limits guessing at logins: failures of an address, failures at a method, and logins at the same
 * time. An attempt counts until it succeeds.
 */
export class LoginGuard {
  readonly #addresses: Attempts;
  readonly #methods: Attempts;
  #underWay = 0;

  constructor(means: Pick<AttemptOptions, 'clock' | 'usedUp'>) {
    const bounds = limits.aclLogin;
    this.#addresses = new Attempts({
      ...means,
      kind: 'address',
      burst: bounds.failuresBurst,
      refillMs: bounds.failureRefillMs,
    });
    this.#methods = new Attempts({
      ...means,
      kind: 'method',
      burst: bounds.methodFailuresBurst,
      refillMs: bounds.methodFailureRefillMs,
    });
  }

  /** @throws RosterError `too-many-logins`, or what `login` throws. */
  async attempt<T>(address: string, method: string, login: () => Promise<T>): Promise<T> {
    if (this.#underWay >= limits.aclLogin.concurrentMax) {
      throw refusal('too-many-logins', { whence: 'at this moment' });
    }
    if (!(await this.#addresses.take(address))) {
      throw refusal('too-many-logins', { whence: 'from this address' });
    }
    if (!(await this.#methods.take(method))) {
      this.#addresses.giveBack(address);
      throw refusal('too-many-logins', { whence: 'with this auth method' });
    }
    this.#underWay++;
    try {
      const value = await login();
      this.#addresses.giveBack(address);
      this.#methods.giveBack(method);
      return value;
    } finally {
      this.#underWay--;
    }
  }
}
