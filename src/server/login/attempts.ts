import type { Clock } from '../../base/ports.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

interface Bucket {
  left: number;
  atMs: number;
}

/**
 * Limits attempts: a bucket for each name, refilled with time. Only the names that tried last are
 * kept.
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #refillMs: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, bounds: { readonly burst: number; readonly refillMs: number }) {
    this.#clock = clock;
    this.#burst = bounds.burst;
    this.#refillMs = bounds.refillMs;
  }

  /** `false`: no attempt is left. */
  take(name: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#buckets.get(name) ?? { left: this.#burst, atMs: nowMs };
    const refilled = (nowMs - bucket.atMs) / this.#refillMs;
    bucket.left = Math.min(this.#burst, bucket.left + refilled);
    bucket.atMs = nowMs;
    this.#keepBucket(name, bucket);
    if (bucket.left < 1) return false;
    bucket.left--;
    return true;
  }

  /** Gives back an attempt that was no guess. */
  giveBack(name: string): void {
    const bucket = this.#buckets.get(name);
    if (bucket !== undefined) bucket.left = Math.min(this.#burst, bucket.left + 1);
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

  constructor(clock: Clock) {
    const bounds = limits.aclLogin;
    this.#addresses = new Attempts(clock, {
      burst: bounds.failuresBurst,
      refillMs: bounds.failureRefillMs,
    });
    this.#methods = new Attempts(clock, {
      burst: bounds.methodFailuresBurst,
      refillMs: bounds.methodFailureRefillMs,
    });
  }

  /** @throws RosterError `too-many-logins`, or what `login` throws. */
  async attempt<T>(address: string, method: string, login: () => Promise<T>): Promise<T> {
    if (this.#underWay >= limits.aclLogin.concurrentMax) {
      throw refusal('too-many-logins', { whence: 'at this moment' });
    }
    if (!this.#addresses.take(address)) {
      throw refusal('too-many-logins', { whence: 'from this address' });
    }
    if (!this.#methods.take(method)) {
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
